"""Addresses: what brokers advertise, what is behind a name, where voters are reached, and which hosts may get a password."""
