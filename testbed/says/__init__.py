"""Extracts what Kafka and ZooKeeper can log from the classes of their releases: ``make says``."""
