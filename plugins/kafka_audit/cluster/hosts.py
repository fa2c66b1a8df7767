"""What an advertised host means: on its own host only, inside some network, or everywhere; and whether there are other hosts."""

import ipaddress
import re
from collections.abc import Iterable

from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import canonical_host, ip_address_of
from kafka_audit.model.tables import BrokerView, SourceRead

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


def dialled_hosts(view: ClusterView, endpoints: Iterable[AdvertisedEndpoint], mapped: Iterable[str]) -> frozenset[str] | None:
    """Return the hosts that clients or brokers live on, as far as addresses show; None where vantages alone show several.

    `mapped` are the addresses that `reach` maps others to.
    """
    info = view.info
    if info is not None and info.client_vantages + info.broker_vantages > 1:
        return None
    dialled = {view.address for view in view.of(BrokerView)}
    dialled |= {read.target for read in view.of(SourceRead) if read.observer.startswith("broker")}
    dialled |= {*mapped}
    hosts = {canonical_host(address.rpartition(":")[0]) for address in dialled} | {canonical_host(row.host) for row in endpoints}
    return frozenset(host for host in hosts if kind_of(host) not in {"a loopback name", "a loopback address", "not a host"})
