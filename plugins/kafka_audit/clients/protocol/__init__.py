"""Kafka's protocol: a connection to one broker, its requests and answers, and what kafka-python raises."""
