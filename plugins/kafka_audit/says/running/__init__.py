"""Faults of a process that runs, or ran, which its log names: YAML files alone, read by `log_faults`."""
