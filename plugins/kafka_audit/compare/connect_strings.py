"""Connect strings of ZooKeeper, `host:port,host:port/chroot`: whether two of them lead to the same data."""

from kafka_audit.compare.addresses import canonical_text


def chroot_of(connect: str) -> str:
    """Return the path below which a connect string has a client work, "" for the root.

    ZooKeeper's client takes everything after the first slash for it.
    """
    path = connect.strip().partition("/")[2]
    return f"/{path}" if path else ""


def same_data(one: str, other: str) -> bool:
    """Return whether two clients see the same znodes: the same chroot, and a server in common. Fewer servers are no others."""
    return chroot_of(one) == chroot_of(other) and not _servers(one).isdisjoint(_servers(other))


def _servers(connect: str) -> frozenset[str]:
    return frozenset(canonical_text(server.strip()) for server in connect.strip().partition("/")[0].split(","))
