"""Risks that logs show: what breaks nothing yet, as YAML files alone, read by `log_faults`."""
