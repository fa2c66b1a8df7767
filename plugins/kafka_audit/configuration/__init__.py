"""The meaning of a broker configuration for Kafka, without any connection."""
