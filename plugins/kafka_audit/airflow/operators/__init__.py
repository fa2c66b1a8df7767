"""Operators, the sensor and the decorator: for the DAGs of this package, and for DAGs that others write."""
