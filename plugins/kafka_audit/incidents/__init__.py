"""From judgements to findings, and from findings to incidents: one cause, one headline."""
