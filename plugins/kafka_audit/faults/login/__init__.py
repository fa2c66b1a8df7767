"""A login that is refused."""
