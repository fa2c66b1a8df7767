"""How observers' views differ from the reference, by matter, and whether that lasts.

What a view says of partitions comes from `ViewDifference`; what it says of brokers, their addresses, the controller and the
cluster id is compared here. What a broker did not say (topic_hidden, leader_ahead, *_untold), and what no order of views shows
(*_disputed), never settles: it is no difference.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from kafka_audit.cluster.registry import RegistrySample
from kafka_audit.cluster.views import HeldView
from kafka_audit.compare.broker_lists import ListDifference, list_differences
from kafka_audit.differences.tables import LISTED, ViewDifference
from kafka_audit.model.tables import ViewBroker
from kafka_audit.model.text import counted

MATTERS = ("leader", "no_leader", "listener", "broker", "endpoint", "unregistered", "assignment", "isr", "controller", "cluster")
"""What views are compared in."""

PARTITIONS = frozenset({"leader", "no_leader", "listener", "assignment", "isr"})
"""Those that are about partitions and topics."""

NEVER_SETTLE = frozenset(
    {"topic_hidden", "leader_ahead", "controller_untold", "cluster_id_missing", "topic_disputed", "broker_disputed"}
)
"""Kinds that are no difference."""

_MATTER_OF: Mapping[str, str] = MappingProxyType(
    {
        "leader": "leader",
        "leader_ahead": "leader",
        "no_leader": "no_leader",
        "listener_missing": "listener",
        "empty_view": "broker",
        "broker_missing": "broker",
        "broker_disputed": "broker",
        "unlisted": "broker",
        "unregistered": "unregistered",
        "endpoint": "endpoint",
        "isr": "isr",
        "controller": "controller",
        "controller_untold": "controller",
        "cluster_id": "cluster",
        "cluster_id_missing": "cluster",
    }
)
_ERRORS: Mapping[int, str] = MappingProxyType({5: "error 5 LEADER_NOT_AVAILABLE", 72: "error 72 LISTENER_NOT_FOUND"})
_SETTLED, _MOVING, _NEVER = 1, 2, 3


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """How an observer's view differs in one of `MATTERS`.

    Built from `ViewDifference` for partitions, from rows of the snapshot for the others.
    """

    settled: bool  # the sample before shows the same, and nothing that it rests on was written in between
    kind: str  # the first in the order of names: see `ViewDifference`; empty_view, broker_missing, broker_disputed, unlisted, …
    count: int  # partitions or brokers
    first: tuple[str, ...]  # the first ten partitions or topics
    brokers: tuple[int, ...]  # concerned, the first ten
    listeners: tuple[str, ...]
    reference: str  # the two sides of the first, in words of data: "leader 1, epoch 6"
    view: str
    empty: bool  # the view lists no broker at all
    unlisted: bool  # it misses nothing: the newest views do not list its broker
    doubt: str | None  # why it is not settled; with `doubt_needs`
    doubt_needs: str | None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One thing that a view says differently, of brokers or the cluster. `subject` is the broker that it is about."""

    listener: str
    subject: int | None
    kind: str
    reference: str
    view: str
    basis: str = ""  # what must not change between two samples


@dataclass(kw_only=True)
class _Part:
    """What makes up a disagreement: claims about one subject, or a row of partitions."""

    kind: str
    tier: int
    count: int
    key: tuple[str, int]  # of the first item; parts are in the order of keys
    first: tuple[tuple[tuple[str, int], str], ...] = ()
    brokers: tuple[int, ...] = ()
    listeners: set[str] = field(default_factory=set)
    sides: tuple[str, str] = ("", "")


def of_partitions(
    rows: Iterable[ViewDifference], *, steady: bool, holders: tuple[str, ...] | None
) -> Mapping[tuple[str, str], Disagreement]:
    """Return how observers differ about partitions and topics, by name and matter; no entry where they do not.

    Args:
        rows: what views say differently.
        steady: the controller and the list of brokers were not written between the samples.
        holders: KRaft: who holds the newest; None with ZooKeeper.
    """
    parts: dict[tuple[str, str], list[_Part]] = defaultdict(list)
    for row in rows:
        parts[row.name, _MATTER_OF.get(row.kind, "assignment")].append(_of_row(row, steady=steady))
    return {key: _disagreement(group, holders) for key, group in parts.items()}


def of_claims(
    claims: Mapping[str, Iterable[Claim]], before: Mapping[str, Iterable[Claim]], *, steady: bool
) -> Mapping[tuple[str, str], Disagreement]:
    """Return how observers differ about brokers, addresses and the cluster, by name and matter; no entry where they do not.

    Args:
        claims: of the newest sample, by the observer's name.
        before: of the sample before.
        steady: the controller and the list of brokers were not written between the samples.
    """
    parts: dict[tuple[str, str], list[_Part]] = defaultdict(list)
    for name, claimed in claims.items():
        earlier = set(before.get(name, ())) if steady else set()
        once: dict[tuple[str, int, str, int | None], _Part] = {}
        for claim in claimed:
            tier = _tier(claim.kind, settled=claim in earlier)
            key = (_MATTER_OF[claim.kind], tier, claim.kind, claim.subject)
            part = once.get(key)
            sides = (claim.reference, claim.view)
            if part is None:
                subjects = () if claim.subject is None else (claim.subject,)
                first = ("", -1 if claim.subject is None else claim.subject)
                part = once[key] = _Part(kind=claim.kind, tier=tier, count=1, key=first, brokers=subjects, sides=sides)
                parts[name, key[0]].append(part)
            part.sides = min(part.sides, sides)
            part.listeners.add(claim.listener)
    return {key: _disagreement(group, None) for key, group in parts.items()}


def _tier(kind: str, *, settled: bool) -> int:
    if kind in NEVER_SETTLE:
        return _NEVER
    return _SETTLED if settled else _MOVING


def _of_row(row: ViewDifference, *, steady: bool) -> _Part:
    of_topics = row.kind.startswith("topic_")
    items = tuple((_order(name, of_topics=of_topics), name) for name in row.first)
    return _Part(
        kind=row.kind,
        tier=_tier(row.kind, settled=row.repeated and steady),
        count=row.partitions,
        key=items[0][0] if items else ("", -1),
        first=items,
        brokers=row.brokers,
        listeners=set(row.listeners),
        sides=_sides(row),
    )


def _order(name: str, *, of_topics: bool) -> tuple[str, int]:
    """Return what items are sorted by: the topic, before its partitions, and these by number."""
    if of_topics:
        return (name, -1)
    topic, _, number = name.rpartition("-")
    return (topic, int(number))


def _sides(row: ViewDifference) -> tuple[str, str]:
    """Return what the reference and the view say of the first partition or topic."""
    if row.kind.startswith("topic_"):
        return "topic", "not listed"
    if row.kind == "replicas":
        return f"replicas {_ids(row.replicas)}", f"replicas {_ids(row.view_replicas)}"
    if row.kind == "isr":
        return f"ISR {_ids(row.isr)}", f"ISR {_ids(row.view_isr)}"
    reference = _leader(row.leader, row.leader_epoch)
    if row.kind == "partition_missing":
        return reference, "partition not listed"
    error = _ERRORS.get(row.view_error or 0)
    return reference, _leader(row.view_leader, row.view_leader_epoch) if error is None else error


def _leader(leader: int | None, epoch: int | None) -> str:
    return f"leader {'none' if leader is None else leader}{'' if epoch is None else f', epoch {epoch}'}"


def _ids(ids: tuple[int, ...] | None) -> str:
    return ", ".join(str(broker) for broker in sorted(ids or ()))


def _disagreement(parts: list[_Part], holders: tuple[str, ...] | None) -> Disagreement:
    """Return what counts: what is settled; where nothing is, what may be in motion; else what never settles."""
    tier = min(part.tier for part in parts)
    counted = [part for part in parts if part.tier == tier]
    kind, count = min(part.kind for part in counted), sum(part.count for part in counted)
    sides = min(counted, key=lambda part: (part.key, part.sides)).sides
    doubt, needs = _doubt(tier, kind, count, holders)
    return Disagreement(
        settled=tier == _SETTLED,
        kind=kind,
        count=count,
        first=tuple(name for _, name in sorted(item for part in counted for item in part.first)[:LISTED]),
        brokers=tuple(sorted({broker for part in counted for broker in part.brokers})[:LISTED]),
        listeners=tuple(sorted(set().union(*(part.listeners for part in counted)))),
        reference=sides[0],
        view=sides[1],
        empty=any(part.kind == "empty_view" for part in counted),
        unlisted=all(part.kind == "unlisted" for part in counted),
        doubt=doubt,
        doubt_needs=needs,
    )


def _doubt(tier: int, kind: str, count: int, holders: tuple[str, ...] | None) -> tuple[str | None, str | None]:
    """Return why a difference is not settled, and what would settle it."""
    if tier == _SETTLED:
        return None, None
    if tier == _MOVING:
        return "in motion", "another audit: this was seen once, or the data it depends on changed between two samples"
    if kind == "topic_hidden":
        return f"{counted(count, 'partition')} {'is' if count == 1 else 'are'} in no view", "Describe on Topic"
    if kind.endswith("disputed"):
        return "views differ, and it is unknown which one is newer", "the view of one more broker"
    if kind == "leader_ahead":
        equal = "brokers report different leaders with the same leader epoch"
        return equal if holders else "its leader epoch is above the one in ZooKeeper", "another audit"
    return "it reports none", "a broker that answers Metadata v2 or later"


def claims(
    views: Iterable[HeldView], registry: RegistrySample, expected_cluster_id: str | None
) -> Mapping[str, tuple[Claim, ...]]:
    """Return what the views of one sample say differently of brokers, controller and cluster, by observer.

    In KRaft no registration says which brokers have a listener. Where no view of a listener lists a broker, and a view of another
    listener of the same observer does, the broker lacks the listener.
    """
    views = tuple(views)
    listed: dict[str, dict[int, ViewBroker]] = defaultdict(dict)
    for row in registry.samples.of(ViewBroker):
        listed[row.brokers_digest][row.broker_id] = row
    on_listener: dict[str, set[int]] = defaultdict(set)
    by_observer: dict[str, set[int]] = defaultdict(set)
    for view in views if registry.samples.kraft else ():
        on_listener[view.row.listener] |= listed[view.row.brokers_digest].keys()
        by_observer[view.name] |= listed[view.row.brokers_digest].keys()
    equal: dict[tuple[str, str, int], tuple[Claim, ...]] = {}  # a thousand brokers that agree are compared once
    found: dict[str, list[Claim]] = defaultdict(list)
    for view in views:
        if not view.foreign:
            key = (view.row.brokers_digest, view.row.listener, view.row.brokers_listed)
            if key not in equal:
                equal[key] = tuple(_of_brokers(view, registry, listed[view.row.brokers_digest]))
            without = by_observer[view.name] - on_listener[view.row.listener]
            found[view.name].extend(
                claim for claim in equal[key] if claim.kind != "broker_missing" or claim.subject not in without
            )
        found[view.name].extend(_of_cluster(view, registry, expected_cluster_id))
    return {name: tuple(claimed) for name, claimed in found.items()}


def _of_brokers(view: HeldView, registry: RegistrySample, listed: Mapping[int, ViewBroker]) -> Iterator[Claim]:
    """Yield what a view lists otherwise: it lists brokers with its listener; of an unknown one only presence can be compared."""
    listener, known = view.row.listener, view.known_listener
    registered = {row.broker_id: row for row in registry.addresses if row.listener == listener or not known}
    differences = list_differences(
        {broker: ((row.host, row.port),) if known else () for broker, row in registered.items()},
        {broker: (row.host, row.port) for broker, row in listed.items()},
        empty=view.row.brokers_listed == 0,
    )
    for broker, difference in differences.items():
        if broker not in registered:
            if registered and broker not in registry.brokers and not registry.samples.kraft:
                yield Claim(listener=listener, subject=broker, kind="unregistered", reference="not registered", view="listed")
            continue
        address = registered[broker]
        kind, reference, claimed, basis = "broker_missing", f"{address.host}:{address.port}", "not listed", str(address.version)
        if difference is ListDifference.NOTHING:
            kind, reference, basis = "empty_view", "brokers registered", ""
        elif difference is ListDifference.ELSEWHERE:
            kind, claimed = "endpoint", f"{listed[broker].host}:{listed[broker].port}"
        elif address.disputed:
            kind = "broker_disputed"
        yield Claim(listener=listener, subject=broker, kind=kind, reference=reference, view=claimed, basis=basis)


def _of_cluster(view: HeldView, registry: RegistrySample, expected: str | None) -> Iterator[Claim]:
    row, state = view.row, registry.state
    right = None if state is None else state.kafka_cluster_id
    controller = None if state is None else state.controller_id
    if not view.foreign and controller is not None and row.controller_id != controller:
        kind = "controller_untold" if row.controller_id is None else "controller"
        claimed = "" if row.controller_id is None else f"controller {row.controller_id}"
        reference = f"controller {controller}"
        yield Claim(listener=row.listener, subject=row.controller_id, kind=kind, reference=reference, view=claimed)
    reported = row.kafka_cluster_id
    if reported is None and (required := right if right is not None else expected) is not None:
        yield Claim(listener=row.listener, subject=None, kind="cluster_id_missing", reference=required, view="")
    elif reported is not None and right is not None and reported != right:
        yield Claim(listener=row.listener, subject=None, kind="cluster_id", reference=right, view=reported)
    elif reported is not None and expected is not None and reported != expected:
        yield Claim(listener=row.listener, subject=None, kind="cluster_id", reference=expected, view=reported)
    answers = row.brokers_listed > 0 and view.broker_id >= 0 and not view.foreign
    if registry.samples.kraft and right is not None and answers and not view.registered:
        yield Claim(listener=row.listener, subject=None, kind="unlisted", reference="not listed", view="answers")
