"""Reasons why a process does not start, which its log names: YAML files alone, read by `log_faults`."""
