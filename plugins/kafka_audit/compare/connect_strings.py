"""Connect strings of ZooKeeper, `host:port,host:port/chroot`: their servers, and whether two of them lead to the same data."""

import re

from kafka_audit.compare.addresses import HostPort, canonical_address

_PORT = 2181  # of a server without one (`ConnectStringParser`)
_SERVER = re.compile(r"\[?([^\[\]]+?)\]?(?::(\d{1,5}))?")


def servers_of(connect: str) -> tuple[HostPort, ...]:
    """Return host and port of each server, as it is written."""
    matches = (_SERVER.fullmatch(text.strip()) for text in connect.partition("/")[0].split(","))
    return tuple(dict.fromkeys((match[1], int(match[2] or _PORT)) for match in matches if match is not None))


def chroot_of(connect: str) -> str:
    """Return the path below which a connect string has a client work, "" for the root.

    ZooKeeper's client takes everything after the first slash for it.
    """
    path = connect.strip().partition("/")[2]
    return f"/{path}" if path else ""


def same_data(one: str, other: str) -> bool:
    """Return whether two clients see the same znodes: the same chroot, and a server in common. Fewer servers are no others."""
    return chroot_of(one) == chroot_of(other) and not same_servers(one).isdisjoint(same_servers(other))


def same_servers(connect: str) -> frozenset[HostPort]:
    """Return the servers in the form in which two of them are compared."""
    return frozenset(canonical_address(*server) for server in servers_of(connect))
