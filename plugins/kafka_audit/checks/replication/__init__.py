"""How many brokers carry the data."""
