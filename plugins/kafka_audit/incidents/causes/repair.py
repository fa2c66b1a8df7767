"""Steps that several causes share; the causes that are still modules take them from here."""

from kafka_audit.checks.repair import advertise, connect_commands, connect_commands_to, prove, server_properties

__all__ = ["advertise", "connect_commands", "connect_commands_to", "prove", "server_properties"]
