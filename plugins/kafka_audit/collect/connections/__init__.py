"""How parties are reached: addresses, limits, sockets, logins with their `tokens/`, and Kafka's `protocol/`."""
