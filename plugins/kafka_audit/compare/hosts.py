"""One form of a host for everything that names it: DNS has no case, and IPv6 has several notations of an address.

Sources: RFC 4343 (case), RFC 5952 (text of IPv6), RFC 4291 2.5.5.2 (IPv4 within IPv6: the kernel and Java connect by IPv4),
RFC 3490 (IDNA, as Python's resolver encodes a name).
"""

import ipaddress
import re
from functools import lru_cache

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{0,40}}")
_NUMERIC = re.compile(r"\d+|0x[0-9a-f]*")
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
