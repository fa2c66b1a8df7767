"""Endpoints, probes of them, and the listener, security and principal that brokers use between each other."""
