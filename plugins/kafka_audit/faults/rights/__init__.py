"""A right that is missing."""
