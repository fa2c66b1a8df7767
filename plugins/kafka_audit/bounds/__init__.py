"""Bounds of time and memory for what is not ours: YAML, files that somebody names, functions that may not end."""
