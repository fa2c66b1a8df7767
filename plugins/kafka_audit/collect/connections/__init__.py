"""How parties are reached: addresses, deadlines and budgets, sockets, credentials, and Kafka's protocol."""
