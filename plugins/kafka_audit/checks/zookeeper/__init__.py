"""KA8xx: the health of ZooKeeper."""
