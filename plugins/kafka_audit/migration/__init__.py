"""Before and after a change of a cluster: whether it may begin, and whether the changes are the planned ones."""
