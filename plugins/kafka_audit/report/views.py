"""What each party says of the whole cluster, side by side: parties that said the same share a column."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_audit.engine.facts import Facts
from kafka_audit.model.tables import BrokerView, ViewPartition, ViewTopic
from kafka_audit.model.text import clean, listing, ranges

_MOST_ADDRESSES = 10
"""Brokers whose addresses are compared; more would be a table of its own, and the matrix shows them all."""

_NOTHING = "none"

NOT_ASKED = "not asked"
"""Stands where a view is of another listener than a question; it differs from nothing."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """Observers that said the same, and what they said, a value for each question."""

    observers: tuple[str, ...]
    values: tuple[str, ...]


def build(facts: Facts) -> dict[str, Any]:
    """Return `{rows, columns}` as JSON-ready values: the first column is the registry's, in KRaft what most brokers say."""
    disputed = _disputed(facts)
    rows = _questions(facts, disputed)
    counts = _partition_counts(facts)
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    if facts.registry is not None or facts.registered:
        found[tuple(_registered(facts, disputed))].append("zookeeper")
    several = len({view.listener for view in facts.views.values() if view.broker_id >= 0}) > 1
    for view in sorted(facts.views.values(), key=lambda view: (view.broker_id, view.listener)):
        name = f"broker {view.broker_id}" if view.broker_id >= 0 else f"broker at {clean(view.address)}"
        said = tuple(_viewed(facts, view, counts.get(view.topics_digest, (0, 0)), disputed))
        found[said].append(f"{name} on {clean(view.listener)}" if several and disputed and view.broker_id >= 0 else name)
    columns = [Column(observers=tuple(dict.fromkeys(names)), values=values) for values, names in found.items()]
    first = [column for column in columns if "zookeeper" in column.observers]
    rest = sorted((column for column in columns if column not in first), key=lambda column: -len(column.observers))
    return {
        "rows": rows,
        "columns": [{"observers": list(c.observers), "values": list(c.values)} for c in (*first, *rest)],
    }


def _disputed(facts: Facts) -> list[tuple[int, str]]:
    """Return broker and listener wherever a view lists another address than others do, or than is registered."""
    said: dict[tuple[int, str], set[str]] = defaultdict(set)
    for endpoint in facts.endpoints:
        said[endpoint.broker_id, endpoint.listener].add(endpoint.address)
    for view in facts.views.values():
        if not view.brokers_listed:
            continue  # says so once, and not once for each broker
        listed = {row.broker_id: f"{row.host}:{row.port}" for row in facts.listed.get(view.brokers_digest, ())}
        for broker, listener in list(said):
            if listener == view.listener:
                said[broker, listener].add(listed.get(broker, _NOTHING))
    return sorted(key for key, addresses in said.items() if len(addresses) > 1)[:_MOST_ADDRESSES]


def _questions(facts: Facts, disputed: Sequence[tuple[int, str]]) -> list[str]:
    asked = ["brokers", *([] if facts.kraft else ["controller"]), "topics", "partitions with a leader", "cluster id"]
    return [*asked, *(f"address of broker {broker}, {clean(listener)}" for broker, listener in disputed)]


def _registered(facts: Facts, disputed: Sequence[tuple[int, str]]) -> Iterator[str]:
    led = sum(row.leader is not None and row.leader >= 0 for row in facts.partitions.values())
    yield ranges(facts.registered) or _NOTHING
    if not facts.kraft:
        yield _NOTHING if facts.controller is None else str(facts.controller)
    yield str(len({topic for topic, _ in facts.partitions})) if facts.partitions else _NOTHING
    yield f"{led} of {len(facts.partitions)}" if facts.partitions else _NOTHING
    yield clean(facts.snapshot.cluster_id)
    for broker, listener in disputed:
        own = (endpoint.address for endpoint in facts.endpoints_of(broker) if endpoint.listener == listener)
        yield clean(next(own, _NOTHING))


def _viewed(facts: Facts, view: BrokerView, led: tuple[int, int], disputed: Sequence[tuple[int, str]]) -> Iterator[str]:
    listed = {row.broker_id: f"{row.host}:{row.port}" for row in facts.listed.get(view.brokers_digest, ())}
    yield ranges(listed) or _NOTHING
    if not facts.kraft:
        yield _NOTHING if view.controller_id is None or view.controller_id < 0 else str(view.controller_id)
    yield str(view.topics_listed) if view.topics_listed else _NOTHING
    yield f"{led[0]} of {led[1]}" if led[1] else _NOTHING
    yield clean(view.kafka_cluster_id or "not told")
    for broker, listener in disputed:
        yield clean(listed.get(broker, _NOTHING)) if view.listener == listener else NOT_ASKED


def _partition_counts(facts: Facts) -> Mapping[str, tuple[int, int]]:
    """Return by `topics_digest` how many partitions have a leader, and how many there are."""
    by_topic: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in facts.snapshot.of(ViewPartition):
        count = by_topic[row.topic_digest]
        count[0] += row.leader >= 0
        count[1] += 1
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for topic in facts.snapshot.of(ViewTopic):
        led, all_of = by_topic.get(topic.topic_digest, (0, 0))
        found[topic.topics_digest][0] += led
        found[topic.topics_digest][1] += all_of
    return {digest: (led, all_of) for digest, (led, all_of) in found.items()}


def who(observers: Sequence[str]) -> str:
    """Return who shares a column: brokers as ranges of ids, the rest by name."""
    ids = [int(name[7:]) for name in observers if _is_broker(name)]
    others = [name for name in observers if not _is_broker(name)]
    own = [f"{'broker' if len(ids) == 1 else 'brokers'} {ranges(ids)}"] if ids else []
    return clean(listing([*own, *others], 4), 200)


def _is_broker(name: str) -> bool:
    return name.startswith("broker ") and name[7:].isdecimal() and name.isascii()
