"""Brokers' own views against ZooKeeper's registry."""
