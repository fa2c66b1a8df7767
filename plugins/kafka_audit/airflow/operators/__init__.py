"""Operators, the sensor and the decorator for DAGs that others write."""
