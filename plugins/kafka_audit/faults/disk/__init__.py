"""A disk that does not answer."""
