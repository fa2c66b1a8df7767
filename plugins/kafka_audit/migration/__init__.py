"""Before and after a change of a cluster: whether it may begin, and whether what changed is what was meant to."""
