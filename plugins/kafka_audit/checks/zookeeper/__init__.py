"""8xx: ZooKeeper itself."""
