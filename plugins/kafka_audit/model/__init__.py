"""Shared types: the snapshot tables, findings, incidents, errors. No I/O, no third-party imports."""
