"""Texts that hold a broker's settings, as Kafka (and whatever starts it) reads them, each key with its line. Pure."""
