"""How parties are asked: addresses, limits, sockets, logins with their `tokens/`, Kafka's `protocol/`, and `zookeeper/`."""
