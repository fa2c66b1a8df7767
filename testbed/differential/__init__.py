"""Hold `configuration.starts` against Kafka's own KafkaConfig over generated configurations."""
