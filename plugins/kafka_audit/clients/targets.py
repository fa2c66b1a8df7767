"""Which addresses to ask, and under whose name. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_audit.compare.addresses import address_text, canonical_address, is_number, normal_host
from kafka_audit.compare.connect_strings import servers_of
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import BOOTSTRAP, RegisteredEndpoint

PLAINTEXT = "PLAINTEXT"
UNREGISTERED = -1
CONTROLLER_LISTENER = "CONTROLLER"
"""The listener name of addresses under `controllers`, and of their own security under `listeners` in the cluster file."""
ZOOKEEPER_LISTENER = "ZOOKEEPER"
"""The listener in rows about ZooKeeper servers; no byte is sent to one that is probed."""

_ADDRESS = re.compile(r"(?:\[([0-9A-Fa-f:.%]+)\]|([^\[\]:/\s]+)):([0-9]{1,5})")


@dataclass(frozen=True, kw_only=True)
class Target:
    """One address of one broker."""

    broker_id: int  # UNREGISTERED for a bootstrap address that no broker has registered
    listener: str
    protocol: str
    host: str  # as advertised
    port: int
    via: str | None  # address dialled instead, from `reach`
    voter_id: int | None = None  # of a controller that the quorum reports

    @property
    def advertised(self) -> str:
        """Host and port as the broker gives them."""
        return address_text(self.host, self.port)

    @property
    def address(self) -> str:
        """Host and port to dial from here."""
        return self.via or self.advertised

    @property
    def dialled(self) -> tuple[str, int]:
        """`address` in two parts."""
        return (self.host, self.port) if self.via is None else split_address(self.via, "reach")

    @property
    def is_controller(self) -> bool:
        """Whether it is an address of `controllers` in the cluster file, or of a voter."""
        return self.broker_id == UNREGISTERED and self.listener == CONTROLLER_LISTENER

    @property
    def is_zookeeper(self) -> bool:
        """Whether it is a ZooKeeper server."""
        return self.broker_id == UNREGISTERED and self.listener == ZOOKEEPER_LISTENER

    @property
    def observer(self) -> str:
        """Name of the party behind it, for rows."""
        return f"broker@{self.advertised}" if self.broker_id == UNREGISTERED else f"broker:{self.broker_id}"


def split_address(text: str, key: str) -> tuple[str, int]:
    """Return host and port of HOST:PORT; raises UsageError naming the key of the cluster file."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        msg = f"{key}: {text!r} is not an address in the form host:port"
        raise UsageError(msg)
    return match[1] or match[2], int(match[3])


def routes(cluster: Cluster) -> dict[tuple[str, int], str]:
    """Return what to dial instead, by the advertised address as `canonical_address` has it.

    Compared as a resolver does, without regard to case, a dot at the end or the notation of IPv6: another spelling of an address
    in `reach` would otherwise be dialled itself, and another process may answer there.
    """
    found = {}
    for advertised, route in cluster.reach.items():
        host, port = split_address(advertised, "reach")
        found[canonical_address(host, port)] = route
    return found


def named_addresses(cluster: Cluster) -> frozenset[tuple[str, int]]:
    """Return the addresses that the cluster file itself names, by `bootstrap`, `controllers`, `reach` and `zookeeper`."""
    texts = {*cluster.bootstrap, *cluster.controllers, *cluster.reach, *cluster.reach.values()}
    if cluster.zookeeper is not None:
        texts |= {address_text(*server) for server in servers_of(cluster.zookeeper.connect)}
    found = (_ADDRESS.fullmatch(text) for text in texts)
    return frozenset((normal_host(match[1] or match[2]), int(match[3])) for match in found if match is not None)


def numeric_addresses(named: Iterable[tuple[str, int]]) -> frozenset[tuple[str, int]]:
    """Return those of these addresses that are numbers: what a name means is not in the file."""
    return frozenset((host, port) for host, port in named if is_number(host))


def behind_proxies(cluster: Cluster) -> dict[tuple[str, int], tuple[str, int]]:
    """Return the advertised address by each address that `reach` leads to instead, as `canonical_address` has it.

    A Kafka proxy replaces addresses in responses with its own. Where `reach` leads two brokers to one
    address, or to one that is advertised itself, the broker behind it is unknown.
    """
    routes = {advertised: canonical_address(*split_address(route, "reach")) for advertised, route in cluster.reach.items()}
    shared = Counter(routes.values())
    themselves = {canonical_address(*split_address(advertised, "reach")) for advertised in cluster.reach}
    return {
        route: split_address(advertised, "reach")
        for advertised, route in routes.items()
        if shared[route] == 1 and route not in themselves
    }


def registered_targets(endpoints: Iterable[RegisteredEndpoint], cluster: Cluster) -> dict[int, list[Target]]:
    """Return the targets of each broker, listeners that the cluster file skips left out."""
    found: defaultdict[int, list[Target]] = defaultdict(list)
    instead = routes(cluster)
    for endpoint in endpoints:
        if endpoint.listener in cluster.listeners and cluster.listeners[endpoint.listener] is None:
            continue
        found[endpoint.broker_id].append(
            Target(
                broker_id=endpoint.broker_id,
                listener=endpoint.listener,
                protocol=endpoint.protocol,
                host=endpoint.host,
                port=endpoint.port,
                via=instead.get(canonical_address(endpoint.host, endpoint.port)),
            )
        )
    return dict(found)


def flat(targets: Mapping[int, Iterable[Target]]) -> list[Target]:
    """Return the targets of all brokers."""
    return [target for of_broker in targets.values() for target in of_broker]


def bootstrap_targets(cluster: Cluster, endpoints: Iterable[RegisteredEndpoint]) -> list[Target]:
    """Return the bootstrap addresses that lead to no registered endpoint, by their addresses.

    Raises:
        UsageError: an address cannot be read.
    """
    advertised = {canonical_address(endpoint.host, endpoint.port) for endpoint in endpoints}
    instead = routes(cluster)
    taken = advertised | {canonical_address(*split_address(instead[at], "reach")) for at in advertised & instead.keys()}
    targets = []
    for text in dict.fromkeys(cluster.bootstrap):
        host, port = split_address(text, f"clusters.{cluster.name}.bootstrap")
        address = canonical_address(host, port)
        if address not in taken:
            protocol, route = cluster.security.protocol, instead.get(address)
            targets.append(Target(broker_id=UNREGISTERED, listener=BOOTSTRAP, protocol=protocol, host=host, port=port, via=route))
    return targets


def listed_endpoints(listed: Iterable[tuple[int, str, int]], sample: int, protocol: str) -> tuple[RegisteredEndpoint, ...]:
    """Return brokers known from Metadata alone as endpoints: the names of their listeners are unknown."""
    return tuple(
        RegisteredEndpoint(sample=sample, broker_id=broker, listener=BOOTSTRAP, protocol=protocol, host=host, port=port)
        for broker, host, port in dict.fromkeys(listed)
    )
