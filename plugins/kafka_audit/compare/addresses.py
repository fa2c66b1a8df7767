"""Addresses: a host and a port, as Kafka writes them and as they are compared; one form of each host."""

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{0,40}}")
_NUMERIC = re.compile(r"\d+|0x[0-9a-f]*")
_IPV4_NETWORK = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})/(\d{1,2})", re.ASCII)
_IPV6_PREFIX = re.compile(r"[+-]?\d{1,9}")
_LONGEST = 255  # of a name in DNS; what is longer is no host


def canonical_host(host: str) -> str:
    """Return a host in the form in which two statements about it are compared.

    As `normal_host`; names of other alphabets are in the form of DNS, and an IPv4 address within IPv6 is that IPv4 address.
    What is no host is returned as it is, so that it equals itself.
    """
    return host if len(host) > _LONGEST else _canonical(host)


@lru_cache(maxsize=10_000)  # views of a thousand brokers name the same thousand hosts
def _canonical(host: str) -> str:
    host = normal_host(host)
    if not host.isascii():
        try:
            host = normal_host(host.encode("idna").decode("ascii"))
        except UnicodeError:
            return host
    address = ip_address_of(host)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return host if mapped is None else str(mapped)


def normal_host(host: str) -> str:
    """Return a host in lower case, without a dot at the end; IPv6 in its shortest form and without brackets.

    Only spellings of one text are made equal, which decides where a password may go: small letters of other alphabets may be ours
    (that of the Kelvin sign is k), so a text that is not ASCII stays as it is. For comparisons, see `canonical_host`.
    """
    host = (host.lower() if host.isascii() else host).removeprefix("[").removesuffix("]")
    address = ip_address_of(host)
    if address is not None:
        return str(address)
    return host[:-1] if is_name(host[:-1]) and host.endswith(".") else host


def same_host(host: str, other: str) -> bool:
    """Return whether two texts name one host, without asking a name server."""
    return host == other or canonical_host(host) == canonical_host(other)


def is_name(host: str) -> bool:
    """Return whether a host is a plain name of letters, digits, `-`, `_` and dots, and no address in any notation."""
    return (
        host.isascii()
        and _NAME.fullmatch(host.lower()) is not None
        and _NUMERIC.fullmatch(host.lower().rpartition(".")[2]) is None
    )


def is_host(host: str) -> bool:
    """Return whether a host is a plain name or an IP address, so that a pattern can name it as it is."""
    host = normal_host(host)
    return is_name(host) or (ip_address_of(host) is not None and "%" not in host)


def ip_address_of(host: str) -> IpAddress | None:
    """Return the IP address that a host without brackets is, None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_number(host: str) -> bool:
    """Return whether a host is an IP address, for which no name server is asked; its zone may be any text."""
    return ip_address_of(host.partition("%")[0]) is not None


def java_address(host: str) -> str:
    """Return an IP address as Java, and so an ACL, writes it: all eight groups of IPv6, without zone; IPv4 within it as IPv4.

    What is no address is returned as it is.
    """
    address = ip_address_of(canonical_host(host))
    if not isinstance(address, ipaddress.IPv6Address):
        return host if address is None else str(address)
    groups = address.packed.hex(":", 2).split(":")
    return ":".join(f"{int(group, 16):x}" for group in groups)


def network_of(text: str) -> IpNetwork | None:
    """Return the network that a text such as `10.0.0.0/8` is, with or without bits behind the prefix; None if it is none.

    As Kafka reads it: groups of IPv4 are decimal with zeros in front; a mask for a prefix, and IPv4 within IPv6, make none.
    """
    return _network(text) if "/" in text and len(text) <= _LONGEST else None


@lru_cache(maxsize=10_000)  # ACLs name few networks, and each is compared with every address
def _network(text: str) -> IpNetwork | None:
    address, _, prefix = text.partition("/")
    if match := _IPV4_NETWORK.fullmatch(text):
        address, prefix = ".".join(str(int(group)) for group in match.groups()[:4]), match[5]
    elif ":" not in canonical_host(address) or not _IPV6_PREFIX.fullmatch(prefix):
        return None
    try:
        return ipaddress.ip_network(f"{normal_host(address)}/{int(prefix)}", strict=False)
    except ValueError:
        return None


def is_in_network(host: str, network: str) -> bool:
    """Return whether a host is an IP address of a network, by Kafka's rules."""
    if (within := network_of(network)) is None:
        return False
    address = ip_address_of(canonical_host(host))
    return address is not None and address in within


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
