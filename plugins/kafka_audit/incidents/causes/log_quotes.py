"""Quotes of logs; the causes that are still modules take them from here."""

from kafka_audit.checks.log_quotes import counting_lines, evidence, idle, of_nodes, of_other_faults, to_controllers, to_zookeeper

__all__ = ["counting_lines", "evidence", "idle", "of_nodes", "of_other_faults", "to_controllers", "to_zookeeper"]
