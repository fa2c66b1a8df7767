"""Which of the files that were read belong to one cluster, which are of two nodes with one id, and their snapshot. Pure."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from pathlib import PurePath
from types import MappingProxyType

from kafka_audit import __version__
from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect.properties import rows
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.compare.addresses import HostPort, canonical_host
from kafka_audit.compare.connect_strings import chroot_of, same_servers
from kafka_audit.compare.host_kinds import means_itself
from kafka_audit.configuration.files.described import Described
from kafka_audit.lint.reading import Source
from kafka_audit.model.addresses.advertised_listeners import INSTEAD, KEY, entries
from kafka_audit.model.addresses.voters import SERVERS, VOTERS
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerProperty, FileRelease, Row, Snapshot, SnapshotInfo
from kafka_audit.model.text import listing

COORDINATORS = ("zookeeper.connect", VOTERS, SERVERS)
"""Settings by which nodes find their cluster."""

_HOST_OF_ADDRESS = re.compile(r"(?<![^\s,@/])\[?([^\s,@/\[\]]+)\]?:\d+")


def are_two_nodes(one: Described, other: Described) -> bool:
    """Return whether two files describe two nodes.

    Nodes on different hosts share a ZooKeeper or controllers at an address that is not each host's own. Nodes on one host have
    nothing in common that only one process can have: no port, and no log directory. Containers have names of their own.
    """
    hosts, others = (_hosts(broker) | (broker.container.own if broker.container else set()) for broker in (one, other))
    if hosts and others and hosts.isdisjoint(others):
        return not all(means_itself(host) for host in _coordinators(one) & _coordinators(other))
    dirs, other_dirs, ports, other_ports = _dirs(one), _dirs(other), _ports(one), _ports(other)
    known = all((dirs, other_dirs, ports, other_ports))
    return known and dirs.isdisjoint(other_dirs) and ports.isdisjoint(other_ports)


def _hosts(broker: Described) -> frozenset[str]:
    listed = (entry.host for key in (KEY, INSTEAD) for entry in entries({KEY: broker.value(key)}))
    return frozenset(canonical_host(host) for host in listed if host and not means_itself(host))


def _ports(broker: Described) -> frozenset[int]:
    listed = (entry.port for entry in entries({KEY: broker.value(INSTEAD)}))
    return frozenset(port for port in listed if port is not None)


def _dirs(broker: Described) -> frozenset[str]:
    text = broker.value("log.dirs") or broker.value("log.dir")
    return frozenset(part.strip() for part in text.split(",") if part.strip())


def _coordinators(broker: Described) -> frozenset[str]:
    return frozenset(host for key in COORDINATORS for host in _HOST_OF_ADDRESS.findall(broker.value(key)))


FIRST_GENERATED_ID = 1001
"""What ZooKeeper gives to the first broker of a cluster that names no id (`reserved.broker.max.id` + 1)."""

_MOST_CHROOTS = 4
_MOST_OF_ONE_ID = 10  # files with one id; more of them are examples, or copies of a cluster
_FAR_ID = 100  # ids from here on are no numbers of brokers
_VOTER_IDS = re.compile(r"(?<!\d)(\d{1,10})@")
_NUMBERED = re.compile(r"[0-9](?:,|$)")
_ADDRESS = re.compile(r"(?<![^\s,@/])[^\s,@/]+:\d+")


@dataclass(frozen=True, kw_only=True)
class Member:
    """One broker of a group; `broker_id` is its own, or one that no other of the group has."""

    source: Source
    broker: Described
    broker_id: int
    same_id_in: tuple[str, ...] = ()  # other files that give another node of the cluster the same id

    @property
    def stores(self) -> Mapping[str, bool]:
        """Return whether key stores exist, by key; empty if this may not be the host of the broker."""
        reported = zip(self.source.brokers, self.source.stores, strict=False)
        return next((stores for broker, stores in reported if broker is self.broker), {})

    @property
    def serves(self) -> bool:
        """Return whether it is a broker to clients, and not a controller only."""
        return self.broker.value("process.roles") != "controller"


Group = tuple[Member, ...]
_Held = Sequence[tuple[Source, Described]]


def cluster_groups(sources: Iterable[Source]) -> tuple[Group, ...]:
    """Return the brokers of each cluster together, in the order of their first file.

    Brokers are of one cluster where a resource of Strimzi says so, or where they share an address of ZooKeeper (with its chroot)
    or of the controllers' quorum. Where two of them have the same id, each folder is a separate cluster, unless each has the file
    of one node only. Where two of one folder do, they are variants of each other, and each is judged alone, unless they are two
    nodes (`py`): then the first is judged with the cluster, and the others alone.
    """
    every = [(source, broker) for source in sources for broker in source.brokers]
    found: list[Group] = []
    for indexes in _connected([_addresses(broker) for _, broker in every]):
        found += _distinct([every[index] for index in indexes], _by_folder)
    return tuple(found)


def of_the_same_ensemble(groups: Sequence[Group]) -> Mapping[int, Group]:
    """Return by place of a group the nodes of others that may be of the same cluster but for their chroot.

    They are in the same folder, name a server of the same ZooKeeper, and have other ids. More than a few chroots in one ZooKeeper
    are as many clusters.
    """
    by_server: defaultdict[tuple[frozenset[PurePath], HostPort], list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        folders = frozenset(PurePath(member.source.path).parent for member in group)
        for server in _servers(group) if len(folders) == 1 else ():
            by_server[folders, server].append(place)
    found: defaultdict[int, set[int]] = defaultdict(set)
    for sharing in by_server.values():
        for place, other in permutations(sharing, 2) if len(sharing) <= _MOST_CHROOTS else ():
            if {member.broker_id for member in groups[place]}.isdisjoint(member.broker_id for member in groups[other]):
                found[place].add(other)
    return {place: tuple(member for other in sorted(others) for member in groups[other]) for place, others in found.items()}


def _servers(group: Group) -> frozenset[HostPort]:
    """Return the addresses of ZooKeeper's servers; an address that each host has itself is none."""
    found = (server for member in group for server in same_servers(member.broker.value("zookeeper.connect")))
    return frozenset(server for server in found if not means_itself(server[0]))


def _distinct(held: _Held, split: Callable[[_Held], Iterable[_Held]]) -> Iterator[Group]:
    ids = [_id(source, broker) for source, broker in held]
    by_id: defaultdict[int, list[int]] = defaultdict(list)
    for index, own in enumerate(ids):
        if own is not None:
            by_id[own].append(index)
    twice = {own: indexes for own, indexes in by_id.items() if indexes[1:]}
    if not twice:
        yield _members(held, ids)
    elif (
        max(map(len, twice.values())) <= _MOST_OF_ONE_ID
        and _is_one_cluster(held)
        and all(are_two_nodes(held[one][1], held[two][1]) for one, two in _pairs(twice.values()))
    ):
        spare = {index for indexes in twice.values() for index in indexes[1:]}
        names = {indexes[0]: tuple(_place(*held[index]) for index in indexes[1:]) for indexes in twice.values()}
        kept = [index for index in range(len(held)) if index not in spare]
        group = _members([held[index] for index in kept], [ids[index] for index in kept])
        yield tuple(
            replace(member, same_id_in=names.get(index, member.same_id_in)) for index, member in zip(kept, group, strict=True)
        )
        for index in sorted(spare):
            yield _members([held[index]], [ids[index]])
    else:
        for part in split(held):
            yield from _distinct(part, _alone)


def _pairs(groups: Iterable[Sequence[int]]) -> Iterator[tuple[int, int]]:
    return (pair for group in groups for pair in combinations(group, 2))


def _is_one_cluster(held: _Held) -> bool:
    """Return whether files are in one folder, or each folder has the file of one node: others may be copies of a cluster."""
    folders = [list(part) for part in _by_folder(held)]
    ids = {_id(source, broker) for source, broker in held}
    return len(folders) == 1 or (len(ids) > 1 and all(len(part) == 1 for part in folders))


def _place(source: Source, broker: Described) -> str:
    return f"{source.path} ({broker.inside})" if broker.inside else source.path


def _by_folder(held: _Held) -> Iterable[_Held]:
    folders: defaultdict[PurePath, list[tuple[Source, Described]]] = defaultdict(list)
    for source, broker in held:
        folders[PurePath(source.path).parent].append((source, broker))
    return folders.values()


def _alone(held: _Held) -> Iterable[_Held]:
    return [[member] for member in held]


def _members(held: _Held, ids: Sequence[int | None]) -> Group:
    free = (number for number in range(FIRST_GENERATED_ID, FIRST_GENERATED_ID + 2 * len(held)) if number not in ids)
    return tuple(
        Member(source=source, broker=broker, broker_id=next(free) if own is None else own, same_id_in=_replicas(broker, own))
        for (source, broker), own in zip(held, ids, strict=True)
    )


def _replicas(broker: Described, own: int | None) -> tuple[str, ...]:
    """Return the other nodes that one text with an id describes."""
    return (f"its {broker.replicas} replicas",) if own is not None and broker.replicas > 1 else ()


def _id(source: Source, broker: Described) -> int | None:
    reported = {key: setting for key, setting in broker.properties.items() if key not in broker.unknown}
    try:
        return rows.broker_id_of_file(reported, source.path)
    except ReadError as error:
        # Kafka refuses two ids, and the node is still one.
        return int(broker.value("node.id")) if error.failure is ReadFailure.TWO_BROKER_IDS else None


def _addresses(broker: Described) -> frozenset[str]:
    if broker.fragment:  # a text may show one cluster before and after a change
        return frozenset({f"text {broker.fragment}"})
    if broker.cluster:  # Strimzi's addresses have no namespace, and without node pools no host
        return frozenset({broker.cluster})
    found: set[str] = set()
    for key in COORDINATORS:
        text = broker.value(key)
        chroot = chroot_of(text) if key == "zookeeper.connect" else ""
        found |= {f"{address}{chroot}" for address in _ADDRESS.findall(text)}
    return frozenset(found)


def _connected(sets: Sequence[frozenset[str]]) -> Iterator[list[int]]:
    """Yield indexes of sets that share a member, directly or through others. A set without any goes with all, if all are one."""
    head = list(range(len(sets)))

    def root(index: int) -> int:
        while head[index] != index:
            head[index] = head[head[index]]
            index = head[index]
        return index

    first: dict[str, int] = {}
    for index, names in enumerate(sets):
        for name in names:
            head[root(index)] = root(first.setdefault(name, index))
    roots = {root(index) for index, names in enumerate(sets) if names}
    joined: defaultdict[int, list[int]] = defaultdict(list)
    for index, names in enumerate(sets):
        joined[root(index) if names else next(iter(roots)) if len(roots) == 1 else index].append(index)
    yield from sorted(joined.values())


def snapshot_from_files(group: Group, key: bytes, releases: Mapping[int, str] = MappingProxyType({})) -> Snapshot:
    """Return what an audit would know of a group by its files alone.

    Args:
        group: brokers and controllers of one cluster.
        key: of the HMAC that passwords become.
        releases: by node, the release by whose rules its file is judged.
    """
    found = [row for member in group for row in configuration_rows(member, key)]
    found += [FileRelease(node_id=node, version=version) for node, version in releases.items()]
    kraft = any(member.broker.value("process.roles") for member in group)
    info = _info(kraft=kraft, brokers=_all_brokers(group))
    return Snapshot(snapshot_id="lint", cluster="files", cluster_id="files", rows=(info, *found))


def _all_brokers(group: Group) -> int | None:
    """Return how many brokers the cluster has, None where other files may describe more of them.

    One file describes all: its nodes have the lowest ids, and find each other by names that only the network of the file has.
    """
    serving = [member for member in group if member.serves]
    counts = [member.broker.replicas for member in serving]
    if not serving or 0 in counts or len({member.source.path for member in group}) > 1:
        return None
    if serving[0].broker.cluster:  # all nodes of a resource
        return sum(counts)
    found = {host for member in group for host in _coordinators(member.broker)}
    named = {name for member in group for name in member.broker.neighbours}
    servers = {host for member in group for host in _HOST_OF_ADDRESS.findall(member.broker.value("zookeeper.connect"))}
    far = any(("." in host or ":" in host) and ".svc" not in host and not means_itself(host) for host in found)
    numbered = len(serving) == 1 and counts == [1] and _NUMBERED.search(serving[0].broker.inside) is not None
    one_of_several = numbered and not found.issubset(named)
    ids = {member.broker_id for member in group}
    ids |= {int(voter) for member in group for voter in _VOTER_IDS.findall(member.broker.value(VOTERS))}
    higher = any(len(group) < own < _FAR_ID for own in ids)
    on_host = any(_is_on_host(member.broker) for member in group)
    doubtful = far or one_of_several or higher or on_host or (len(servers) > 1 and not servers <= named)
    return None if doubtful else sum(counts)


def _is_on_host(broker: Described) -> bool:
    """Return whether a service has the network of its host, and an address there that brokers of other hosts can reach."""
    own = broker.container is None and broker.inside.startswith("service ")
    return own and (not broker.value(KEY) or bool(_hosts(broker)))


def configuration_rows(member: Member, key: bytes) -> Iterator[Row]:
    """Yield settings and logins; a key that contains a placeholder is there, and hidden."""
    path, broker_id = member.source.path, member.broker_id
    held = member.broker.properties
    reported = {name: setting for name, setting in held.items() if name not in member.broker.unknown}
    yield from rows.setting_rows(reported, path, broker_id)
    for name in sorted(member.broker.unknown):
        line = held[name].line if name in held else 0
        yield BrokerProperty(source=path, broker_id=broker_id, key=name, value=None, secret=False, line=line)
    asking = Asking(sample=1, observer=f"properties:{broker_id}", target=path)
    if member.same_id_in:
        places = listing((_place(member.source, member.broker), *member.same_id_in), 3)
        yield asking.failed("properties node.id", ReadError(ReadFailure.TWO_FILES, places, f"one file for node {broker_id}"))
    for login in rows.login_rows(reported, path, broker_id, key):
        yield login if isinstance(login, Row) else asking.failed(f"properties {login[0]}", login[1])
    for name, there in member.stores.items():
        missing = ReadError(ReadFailure.NO_FILE, None, f"a file at {held[name].value}")
        yield asking.answered(f"properties {name}") if there else asking.failed(f"properties {name}", missing)


def _info(*, kraft: bool, brokers: int | None) -> SnapshotInfo:
    return SnapshotInfo(
        cluster="files",
        mode="kraft" if kraft else "zookeeper",
        tool_version=__version__,
        started_ms=0,
        finished_ms=0,
        samples=0,
        settle_s=0.0,
        leader_moves=1.0,
        skew_s=0.0,
        expect_brokers=brokers,
    )
