"""What the rows of one sample do not agree on. Pure; finds differences, judges none.

Views are compared with ZooKeeper once per distinct content, so the cost grows with disagreement, not with brokers times
partitions. Partitions that differ are columns, however many they are.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import pyarrow as pa

from kafka_audit.clients.read_error import clean_line
from kafka_audit.collect.brokers.transactions import STATES
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.rows.columns import Lists, texts
from kafka_audit.collect.sampling import quorum_differences
from kafka_audit.collect.sampling.partition_differences import PartitionSet, TopicLists, replication_gaps
from kafka_audit.compare.addresses import HostPort, canonical_address
from kafka_audit.compare.broker_lists import list_differences
from kafka_audit.model.addresses.name_addresses import answers_for_another, taken_in_vain
from kafka_audit.model.cluster import WORKER, Expect
from kafka_audit.model.read_failure import LASTING, ReadFailure
from kafka_audit.model.tables import (
    BOOTSTRAP,
    AclHolder,
    AddressProbe,
    BrokerIdentity,
    BrokerView,
    CoordinatedTransaction,
    CoordinatorPartition,
    GroupCoordinator,
    LeadershipAnswer,
    LogDir,
    Migration,
    OldTransaction,
    Probe,
    RebalancingGroup,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    SourceRead,
    ViewBroker,
    ViewPartition,
    ViewTopic,
    ZookeeperMember,
    ZookeeperNode,
    ZookeeperProbe,
)
from kafka_audit.model.tables.storage import OPEN_FOR_LONG_MS
from kafka_audit.model.text import counted

NOTHING = Expect()
_REGISTRATION = "zookeeper /brokers/ids/"  # the read of one broker's own znode
_PARTIES = ("broker:", "broker@", "controller@")
Key = tuple[Hashable, ...]
View = tuple[str, str]  # observer, listener
_T = TypeVar("_T", bound=Row)


class SampleTables:
    """Rows by table, and large tables as they are."""

    def __init__(self, collected: Collected) -> None:
        """Sort rows into their tables."""
        self._collected = collected
        self._rows: defaultdict[type[Row], list[Row]] = defaultdict(list)
        for row in collected.rows:
            self._rows[type(row)].append(row)

    def of(self, table: type[_T]) -> list[_T]:
        """Return the rows of one table."""
        return self._rows[table]  # type: ignore[return-value] # rows are filed under their own type

    def columns(self, table: type[Row]) -> pa.Table:
        """Return a table in `LARGE`."""
        return self._collected.columns(table)

    def assigned(self) -> set[int]:
        """Return the brokers to which ZooKeeper assigns partitions."""
        return self._collected.assigned()

    def registry(self) -> Registry | None:
        """Return what ZooKeeper holds about the cluster, None where it was not read."""
        return next(iter(self.of(Registry)), None)


@dataclass(frozen=True, kw_only=True)
class SampleDifferences:
    """What differs, by view and apart from views, with a reason in words for each group.

    Attributes:
        of_views: brokers, topics and the controller that a view has otherwise than ZooKeeper.
        partitions: partitions that a view has otherwise; with None for the view, those without leader or out of the ISR.
        others: what belongs to no view.
        reasons: in words.
    """

    of_views: Mapping[View, frozenset[Key]]
    others: frozenset[Key]
    reasons: tuple[str, ...]
    partitions: Mapping[View | None, PartitionSet] = field(default_factory=lambda: MappingProxyType({}))

    def all(self) -> Iterator[Key]:
        """Yield every difference but those of partitions that are columns; a topic that many views lack comes once for each."""
        yield from self.others
        for keys in self.of_views.values():
            yield from keys

    def has_more_than(self, earlier: "SampleDifferences") -> bool:
        """Return whether there is one here that was not there earlier."""
        return (
            not self.others <= earlier.others
            or any(not keys <= earlier.of_views.get(view, frozenset()) for view, keys in self.of_views.items())
            or any(partitions.has_more_than(earlier.partitions.get(view)) for view, partitions in self.partitions.items())
        )


def find_sample_differences(tables: SampleTables, expect: Expect = NOTHING) -> SampleDifferences:
    """Compare everything in one sample with everything else, and with what the cluster's owner expects."""
    of_views: dict[View, frozenset[Key]] = {}
    partitions: dict[View | None, PartitionSet] = {}
    others: set[Key] = set()
    reasons: list[str] = []
    registry = tables.registry()
    if registry is not None:
        if registry.controller_id is None and not any(
            migration.kraft_controller_id is not None for migration in tables.of(Migration)
        ):
            others.add(("no controller",))
            reasons.append("ZooKeeper has no /controller")
        of_views, partitions = _against_zookeeper(tables, registry, reasons)
        others |= _absent(tables, registry, expect.brokers, reasons)
    by_parties = (_among_brokers, _shared_addresses, _acls, _reads, _identities, _probes, _unclaimed_transactions)
    for compare in (*by_parties, quorum_differences.find_quorum_differences, _leadership, _coordinators):
        others |= compare(tables, reasons)
    partitions[None] = replication_gaps(tables.columns(RegisteredPartition), tables.columns(ViewPartition), reasons)
    others |= _topic_ids(tables, reasons) | _more_replicas(tables, reasons)
    others |= _ensemble(tables, reasons) | _foreign(tables, expect.cluster_id, reasons)
    return SampleDifferences(
        of_views=of_views, others=frozenset(others), reasons=tuple(dict.fromkeys(reasons)), partitions=partitions
    )


def _topic_ids(tables: SampleTables, reasons: list[str]) -> set[Key]:
    """Return topics of which a view has another id than ZooKeeper, or that it alone has; views of old versions have no ids."""
    registered, listed = tables.columns(RegisteredTopic), tables.columns(ViewTopic)
    topic_ids = dict(zip(texts(registered, "topic").to_pylist(), texts(registered, "topic_id").to_pylist(), strict=True))
    shown = zip(texts(listed, "topic").to_pylist(), texts(listed, "topic_id").to_pylist(), strict=True)
    differ = {(name, topic_id) for name, topic_id in shown if topic_id and name in topic_ids and topic_ids[name] != topic_id}
    kept = {*texts(listed, "topic").to_pylist()} - topic_ids.keys() if topic_ids else set[str]()
    if kept:
        reasons.append(f"{counted(len(kept), 'topic')} of brokers that ZooKeeper does not have")
    if differ:
        reasons.append(f"{counted(len({name for name, _ in differ}), 'topic')} with another id in ZooKeeper than at brokers")
    return {("topic id", name, topic_id) for name, topic_id in differ} | {("kept topic", name) for name in kept}


def _more_replicas(tables: SampleTables, reasons: list[str]) -> set[Key]:
    """Return the brokers whose log dirs have more replicas than are assigned to them: strays, or replicas that are moved away."""
    rows = tables.columns(RegisteredPartition)
    rows = rows if rows.num_rows else tables.columns(ViewPartition)
    numbers, counts = np.unique(Lists.column(rows, "replicas").flat(), return_counts=True)
    assigned = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    held: defaultdict[int, int] = defaultdict(int)
    for row in tables.of(LogDir):
        held[row.broker_id] += row.replicas
    more = {broker: count for broker, count in held.items() if assigned and count > assigned.get(broker, 0)}
    for broker, count in more.items():
        reasons.append(f"broker {broker} has {counted(count, 'replica')}, {assigned.get(broker, 0)} are assigned to it")
    return {("replicas", broker, count) for broker, count in more.items()}


def _foreign(tables: SampleTables, expected: str | None, reasons: list[str]) -> set[Key]:
    """Return brokers that report another cluster id than the expected one."""
    reported = {(view.observer, view.kafka_cluster_id) for view in tables.of(BrokerView) if view.kafka_cluster_id is not None}
    others = sorted((observer, cluster_id) for observer, cluster_id in reported if expected not in {None, cluster_id})
    if others:
        reasons.append(f"{_names(observer for observer, _ in others)} report another cluster id than the expected one")
    return {("cluster id", observer, cluster_id) for observer, cluster_id in others}


def _ensemble(tables: SampleTables, reasons: list[str]) -> set[Key]:
    found = quorum_differences.find_ensemble_differences(tables.of(ZookeeperMember), tables.of(ZookeeperNode), reasons)
    return found | quorum_differences.find_unreached_servers(tables.of(ZookeeperProbe), reasons)


def _coordinators(tables: SampleTables, reasons: list[str]) -> set[Key]:
    """Return group coordinators that are not ready, and groups in a rebalance: each lasts for a moment as a rule."""
    found = {(row.broker_id, row.error) for row in tables.of(GroupCoordinator) if row.error}
    found |= {(part.broker_id, part.error) for part in tables.of(CoordinatorPartition)}
    reasons += [f"the group coordinator of broker {broker} answers {error}" for broker, error in sorted(found)]
    groups = {(row.broker_id, row.group) for row in tables.of(RebalancingGroup)}
    reasons += [f"{counted(len(groups), 'group')} {'is' if len(groups) == 1 else 'are'} in a rebalance"] if groups else []
    return {("coordinator", *row) for row in found} | {("rebalance", *row) for row in groups}


def _unclaimed_transactions(tables: SampleTables, reasons: list[str]) -> set[Key]:
    """Return transactions beyond every time-out that no coordinator has, of those that were asked: one may just have ended."""
    known = {name for row in tables.of(CoordinatedTransaction) for name in row.partitions}
    asked = any((read.operation, read.outcome) == (STATES, "answered") for read in tables.of(SourceRead))
    old = {
        (row.topic, row.partition, row.stable_offset) for row in tables.of(OldTransaction) if row.older_than_ms > OPEN_FOR_LONG_MS
    }
    found = {place for place in old if asked and f"{place[0]}-{place[1]}" not in known}
    reasons += [f"no coordinator has {counted(len(found), 'transaction')}"] if found else []
    return {("transaction", *place) for place in found}


def _names(observers: Iterable[str]) -> str:
    found = [clean_line(observer.replace("broker:", "broker "), 60) for observer in dict.fromkeys(observers)]
    return ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")  # noqa: PLR2004 -- the same three


def _against_zookeeper(
    tables: SampleTables, registry: Registry, reasons: list[str]
) -> tuple[dict[View, frozenset[Key]], dict[View | None, PartitionSet]]:
    """Return what each view has otherwise than ZooKeeper, and which partitions; equal views are compared once."""
    brokers = _BrokerLists(tables)
    topics = TopicLists(*map(tables.columns, (RegisteredTopic, RegisteredPartition, ViewTopic, ViewPartition)))
    of_views: dict[View, frozenset[Key]] = {}
    of_partitions: dict[View | None, PartitionSet] = {}
    holders: defaultdict[tuple[frozenset[Key], PartitionSet, int | None], list[str]] = defaultdict(list)
    for view in tables.of(BrokerView):
        names, partitions = topics.compare(view.topics_digest)
        keys = brokers.compare(view.brokers_digest, view.listener) | names
        if registry.controller_id is not None and view.controller_id != registry.controller_id:
            keys |= {("controller", view.controller_id)}
        if keys or partitions:
            of_views[view.observer, view.listener] = keys
            of_partitions[view.observer, view.listener] = partitions
            holders[keys, partitions, view.controller_id].append(view.observer)
    for (keys, partitions, controller), observers in holders.items():
        reasons.append(f"{_names(observers)} and ZooKeeper differ: {_counted(keys, partitions, controller, registry)}")
    return of_views, of_partitions


def _absent(tables: SampleTables, registry: Registry, expected: int | None, reasons: list[str]) -> set[Key]:
    """Return the brokers that assignments or the owner know and ZooKeeper does not: gone, or between two registrations."""
    if registry.brokers_pzxid is None:
        return set()  # not read, so no absence is known
    registered = {registered_broker.broker_id for registered_broker in tables.of(RegisteredBroker)}
    failed = (read.operation.removeprefix(_REGISTRATION) for read in tables.of(SourceRead) if read.outcome == "failed")
    unreadable = {int(name) for name in failed if name.isascii() and name.isdigit()}  # there, whatever it says
    found: set[Key] = set()
    assigned = tables.assigned() - registered - unreadable
    if assigned:
        found |= {("absent", number) for number in assigned}
        reasons.append(
            f"replicas are assigned to {_names(f'broker {number}' for number in sorted(assigned))}, not registered in ZooKeeper"
        )
    there = len(registered | unreadable)
    if expected is not None and there < expected:
        found.add(("fewer brokers than expected", there))
        reasons.append(f"{there} brokers are registered, {expected} are expected")
    return found


def _counted(keys: frozenset[Key], partitions: PartitionSet, controller: int | None, registry: Registry) -> str:
    kinds = {kind: sum(key[0] == kind for key in keys) for kind in ("broker", "topic")} | {"partition": len(partitions)}
    parts = [f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in kinds.items() if count]
    if any(key[0] == "controller" for key in keys):
        parts.append(f"controller {controller} instead of {registry.controller_id}")
    return ", ".join(parts)


def _lists_by_digest(tables: SampleTables) -> Mapping[str, Mapping[int, HostPort]]:
    found: defaultdict[str, dict[int, HostPort]] = defaultdict(dict)
    for row in tables.of(ViewBroker):
        found[row.brokers_digest][row.broker_id] = (row.host, row.port)
    return found


class _BrokerLists:
    """Lists of brokers against the registrations, per listener."""

    def __init__(self, tables: SampleTables) -> None:
        self._registered: defaultdict[str, dict[int, tuple[HostPort, ...]]] = defaultdict(dict)
        for endpoint in tables.of(RegisteredEndpoint):
            self._registered[endpoint.listener][endpoint.broker_id] = ((endpoint.host, endpoint.port),)
        # Through which listener an unregistered address leads is not known, so only ids can be compared.
        self._registered[BOOTSTRAP] = {row.broker_id: () for row in tables.of(RegisteredBroker)}
        self._listed = _lists_by_digest(tables)
        self._known: dict[tuple[str, str], frozenset[Key]] = {}

    def compare(self, digest: str, listener: str) -> frozenset[Key]:
        if (digest, listener) not in self._known:
            differ = list_differences(self._registered[listener], self._listed[digest])
            self._known[digest, listener] = frozenset(("broker", number) for number in differ)
        return self._known[digest, listener]


def _among_brokers(tables: SampleTables, reasons: list[str]) -> set[Key]:
    """Return the listeners on which brokers do not show the same; answers of different versions have different columns."""
    groups: defaultdict[tuple[str, int], defaultdict[tuple[Hashable, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    listed = _comparable_lists(tables)
    for view in tables.of(BrokerView):
        shown = listed[view.listener, view.brokers_digest]
        groups[view.listener, view.metadata_version][shown, view.topics_digest].append(view.observer)
    found: set[Key] = set()
    # Without a registry, only views show changes: views that changed are another difference.
    among_themselves = tables.registry() is None
    for view in tables.of(BrokerView) if among_themselves else ():
        if not view.brokers_listed:
            found.add(("empty view", view.observer))
            reasons.append(f"{_names([view.observer.replace('broker@', 'the broker at ')])} lists no broker")
    for (listener, version), views in groups.items():
        if len(views) > 1:
            found.add(("views", listener, version, frozenset(views) if among_themselves else None))
            fewest = min(views.values(), key=len)
            reasons.append(f"on {clean_line(listener, 60)} {_names(fewest)} and the other brokers show different views")
    return found


def _comparable_lists(tables: SampleTables) -> Mapping[tuple[str, str], Hashable]:
    """Return what each list of brokers says, by listener and digest; equal hosts may be written in two ways.

    On listeners without name only the ids count where a broker gave two lists there: then these are of two listeners, whose
    addresses differ by design, and which list is of which is not known.
    """
    rows: defaultdict[str, list[ViewBroker]] = defaultdict(list)
    for row in tables.of(ViewBroker):
        rows[row.brokers_digest].append(row)
    given: defaultdict[str, set[str]] = defaultdict(set)
    for view in tables.of(BrokerView):
        if view.listener == BOOTSTRAP:
            given[view.observer].add(view.brokers_digest)
    ids_only = any(len(lists) > 1 for lists in given.values())
    found: dict[tuple[str, str], Hashable] = {}
    for listener, digest in {(view.listener, view.brokers_digest) for view in tables.of(BrokerView)}:
        if listener == BOOTSTRAP and ids_only:
            found[listener, digest] = frozenset(row.broker_id for row in rows[digest])
        else:
            found[listener, digest] = frozenset(
                (row.broker_id, *canonical_address(row.host, row.port), row.rack) for row in rows[digest]
            )
    return found


def _acls(tables: SampleTables, reasons: list[str]) -> set[Key]:
    """Return the brokers that hold other ACLs than ZooKeeper: one that hears of a change a moment later is no finding."""
    held = {holder.observer: holder.acls_digest for holder in tables.of(AclHolder)}
    zookeeper = held.pop("zookeeper", None)
    differ = sorted(observer for observer, digest in held.items() if zookeeper not in {None, digest})
    if differ:
        reasons.append(f"{_names(differ)} and ZooKeeper hold different ACLs")
    return {("acls", observer, held[observer], zookeeper) for observer in differ}


def _reads(tables: SampleTables, reasons: list[str]) -> set[Key]:
    found: set[Key] = set()
    for read in tables.of(SourceRead):
        # `broker@…` too: a broker that is down for a restart has no registration, so the broker of the address is unknown.
        if read.outcome == "failed" and read.observer.startswith(_PARTIES) and read.failure not in LASTING:
            found.add(("read", read.observer, read.operation, read.target))
            unnamed = "a controller" if read.observer.startswith("controller") else "a bootstrap address"
            subject = _names([read.observer]) if read.observer.startswith("broker:") else unnamed
            if read.failure is ReadFailure.CONTRADICTS_ZOOKEEPER:
                reasons.append(f"{subject} at {clean_line(read.target, 80)} {read.error}")
            else:
                reasons.append(f"{subject} did not answer at {clean_line(read.target, 80)} ({read.error})")
    return found


def _identities(tables: SampleTables, reasons: list[str]) -> set[Key]:
    found: set[Key] = set()
    for row in tables.of(BrokerIdentity):
        if answers_for_another(row):
            found.add(("identity", row.broker_id, row.listener, row.answered_by))
            reasons.append(f"broker {row.answered_by} answers at {clean_line(row.address, 80)}, advertised for {row.broker_id}")
    for probe in tables.of(Probe):
        if (probe.layer, probe.role) == ("identity", "client") and probe.vantage != WORKER and answers_for_another(probe):
            found.add(("probe", probe.vantage, None, probe.broker_id, probe.listener, probe.layer, probe.answered_by))
            place = f"{clean_line(probe.host, 60)}:{probe.port}, advertised for {probe.broker_id}"
            reasons.append(f"from {clean_line(probe.vantage, 60)}, broker {probe.answered_by} answers at {place}")
    return found


def _shared_addresses(tables: SampleTables, reasons: list[str]) -> set[Key]:
    """Return addresses under which a list names two brokers: one of them may just have taken the other's place."""
    held: defaultdict[tuple[str, str, int], set[int]] = defaultdict(set)
    for view_broker in tables.of(ViewBroker):
        held[view_broker.brokers_digest, *canonical_address(view_broker.host, view_broker.port)].add(view_broker.broker_id)
    shared = {(host, port, tuple(sorted(ids))) for (_, host, port), ids in held.items() if len(ids) > 1}
    for host, port, ids in sorted(shared):
        reasons.append(f"brokers {', '.join(map(str, ids))} are listed at {clean_line(host, 60)}:{port}")
    return {("shared address", *row) for row in shared}


def _probes(tables: SampleTables, reasons: list[str]) -> set[Key]:
    found: set[Key] = set()
    for row in tables.of(Probe):
        if row.outcome == "failed":
            found.add(("probe", row.vantage, row.from_broker, row.broker_id, row.listener, row.layer))
            place = row.vantage if row.from_broker is None else f"broker {row.from_broker}"
            reasons.append(f"from {clean_line(place, 60)} {row.layer} to broker {row.broker_id} failed ({row.error})")
    for probe in taken_in_vain(tables.of(AddressProbe)):
        found.add(("probe", probe.vantage, probe.from_broker, probe.broker_id, probe.listener, probe.address, probe.answered_by))
        reasons.append(
            f"{clean_line(probe.address, 60)}, an address of {clean_line(probe.host, 60)}, does not lead to its broker"
        )
    return found


def _leadership(tables: SampleTables, reasons: list[str]) -> set[Key]:
    """Return partitions that a broker denies to lead, or cannot serve: the reference was read a moment earlier."""
    found: set[Key] = set()
    counts: defaultdict[tuple[int, int], int] = defaultdict(int)
    for answer in tables.of(LeadershipAnswer):
        found.add(("partition", answer.topic, answer.partition, answer.broker_id, answer.error))
        counts[answer.broker_id, answer.error] += 1
    reasons.extend(f"broker {broker} answers {error} for {count} partitions" for (broker, error), count in counts.items())
    return found
