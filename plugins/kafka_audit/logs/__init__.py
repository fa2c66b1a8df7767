"""A diagnosis from nothing but logs: lines, what each node says, and the faults that fit. Pure but for its files."""
