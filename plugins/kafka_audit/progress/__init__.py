"""What is on its way in a cluster, and whether it gets anywhere: pure functions of a view, and one rule for all kinds."""
