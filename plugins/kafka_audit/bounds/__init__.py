"""Bounds of time and memory for untrusted input: YAML, named files, functions that may not end."""
