"""0xx: data that the audit could not read."""
