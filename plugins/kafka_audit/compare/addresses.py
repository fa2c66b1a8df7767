"""Addresses: a host and a port, as Kafka writes them and as they are compared."""

from collections.abc import Iterable

from kafka_audit.compare.hosts import canonical_host

HostPort = tuple[str, int]


def address_text(host: str, port: int) -> str:
    """Return HOST:PORT as Kafka writes it, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def canonical_address(host: str, port: int) -> HostPort:
    """Return an address in the form in which two statements about it are compared."""
    return canonical_host(host), port


def canonical_text(address: str) -> str:
    """Return an address that is written as HOST:PORT in the form in which it is compared."""
    host, _, port = address.rpartition(":")
    return f"{canonical_host(host)}:{port}"


def same_address(address: HostPort, other: HostPort) -> bool:
    """Return whether two addresses are one; equal texts, which are most, cost nothing."""
    return address == other or (address[1] == other[1] and canonical_host(address[0]) == canonical_host(other[0]))


def is_among(address: HostPort, others: Iterable[HostPort]) -> bool:
    """Return whether an address is one of others."""
    return any(same_address(address, other) for other in others)
