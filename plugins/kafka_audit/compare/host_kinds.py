"""What an advertised host means by its form: its own host only, inside some network, or everywhere. Pure."""

import ipaddress
import re

from kafka_audit.compare.addresses import canonical_host, ip_address_of

_INSIDE = (
    (re.compile(r"\.svc$|\.svc\.|\.pod\.cluster\.|\.cluster\.local$"), "Kubernetes"),
    (re.compile(r"\.docker\.internal$|^kubernetes\.docker\.internal$"), "Docker"),
    (re.compile(r"\.consul$|\.consul\."), "Consul"),
    (re.compile(r"\.internal$"), "a cloud's network"),
    (re.compile(r"\.(local|localdomain|lan|home\.arpa|intranet)$"), "a local network"),
)
_BROADCAST = ipaddress.IPv4Address("255.255.255.255")


def inside_of(host: str) -> str | None:
    """Return where alone a name resolves, judged by its form; None for addresses, and for names that may resolve anywhere."""
    name = canonical_host(host)
    for form, place in _INSIDE:
        if form.search(name):
            return place
    return "its own network" if kind_of(host) == "a bare name without a domain" else None


def kind_of(host: str) -> str | None:
    """Return what is wrong with an advertised host, None for one that can mean the same everywhere."""
    name = canonical_host(host)
    address = ip_address_of(name.partition("%")[0])
    if address is None:
        if name in {"localhost", "localhost.localdomain", "ip6-localhost"}:
            return "a loopback name"
        if not name:
            return "not a host"
        return None if "." in name else "a bare name without a domain"
    kinds = (
        (address.is_loopback, "a loopback address"),
        (address.is_unspecified, "the wildcard address"),
        (address.is_multicast, "a multicast address"),
        (address == _BROADCAST, "the broadcast address"),
        (address.is_link_local, "a link-local address"),
    )
    return next((kind for is_one, kind in kinds if is_one), None)


def means_itself(host: str) -> bool:
    """Return whether a host means the local host everywhere: a loopback name or address, or the wildcard address."""
    return kind_of(host) in {"a loopback name", "a loopback address", "the wildcard address"}
