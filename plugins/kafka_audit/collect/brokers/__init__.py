"""Each broker's own view: what it answers about the cluster, itself, its partitions and its groups."""
