"""Audit Kafka clusters by asking every party: ZooKeeper, each broker itself, the network, the configuration."""

__version__ = "0.1.0"
