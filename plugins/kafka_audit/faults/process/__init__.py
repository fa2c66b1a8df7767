"""A process that stands still, or does not run."""
