"""What must be right before a cluster leaves ZooKeeper; run by the gate before a migration alone."""
