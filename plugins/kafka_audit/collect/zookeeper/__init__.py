"""ZooKeeper's view: the ensemble, and the znodes that Kafka keeps there."""
