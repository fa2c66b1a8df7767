"""Judge files before a broker starts with them, by the checks of the audit and by Kafka's own rules, and say it by line."""
