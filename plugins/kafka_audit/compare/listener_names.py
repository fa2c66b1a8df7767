"""Names of listeners, as Kafka compares them (`ListenerName.normalised`): in capital letters, without blanks around."""


def canonical_listener(name: str) -> str:
    """Return the name of a listener as a broker registers it; settings and JAAS entries may have it in small letters."""
    return name.strip().upper()


def same_listener(name: str, other: str) -> bool:
    """Return whether two names are those of one listener."""
    return canonical_listener(name) == canonical_listener(other)
