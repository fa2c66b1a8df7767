"""What Kafka's two readers of principal rules share: each piece must be a rule from its first character to its last. Pure."""

import re

from kafka_audit.configuration.principals.errors import RulesError
from kafka_audit.configuration.principals.java_regex import JavaPattern


def whole(parser: JavaPattern, piece: str) -> re.Match[str]:
    """Return the match of one rule; raises RulesError in Kafka's words, which are the same for SSL and Kerberos."""
    found = parser.looking_at(piece)
    if found is None:
        message = f"Invalid rule: {piece}"
        raise RulesError(message)
    if found.end() != len(piece):
        message = f"Invalid rule: `{piece}`, unmatched substring: `{piece[found.end() :]}`"
        raise RulesError(message)
    return found
