"""What becomes of topics, groups and transactions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_audit.cluster.coordinators import coordinated_by
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LossEffect

OFFLINE, UNCLEAN, NOT_WRITABLE, AT_RISK, BELOW_MARGIN = "offline", "unclean", "not_writable", "at_risk", "below_margin"
UNSAFE = (OFFLINE, UNCLEAN, NOT_WRITABLE, BELOW_MARGIN)
"""Kinds for which a loss is not safe."""

LISTED = (OFFLINE, UNCLEAN, NOT_WRITABLE, AT_RISK, BELOW_MARGIN)

GROUPS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
_STATES = {OFFLINE: "gone", UNCLEAN: "loses", NOT_WRITABLE: "refuses", "moved": "moves"}
"""What a coordinator does, the worst first."""


@dataclass(frozen=True, kw_only=True)
class TopicPartitions:
    """Partitions of a topic, sorted."""

    topic: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Coordinator:
    """What becomes of the groups or transactions whose id has the hash of a partition.

    Attributes:
        partition: of `__consumer_offsets` or `__transaction_state`.
        state: `moves` (to another broker), `refuses` (too few in sync), `loses` (what an unclean leader lacks) or `gone`.
        ids: those that the snapshot knows, sorted.
    """

    partition: int
    state: str
    ids: tuple[str, ...]


Effects = Mapping[str, Sequence[TopicPartitions]]
"""By kind, in the order of topics."""


def effects(view: ClusterView) -> Mapping[str, Effects]:
    """Return what becomes of partitions, by the name of each loss; "" is what is so already."""
    found: dict[str, dict[str, list[TopicPartitions]]] = {}
    for row in view.differences.rows.get(LossEffect, ()):
        if isinstance(row, LossEffect):
            listed = found.setdefault(row.loss, {}).setdefault(row.kind, [])
            listed.append(TopicPartitions(topic=row.topic, partitions=row.partitions))
    for kinds in found.values():
        for rows in kinds.values():
            rows.sort(key=lambda row: row.topic)
    return found


def count(rows: Iterable[TopicPartitions]) -> int:
    """Return how many partitions there are."""
    return sum(len(row.partitions) for row in rows)


def coordinators(view: ClusterView, found: Effects, topic: str) -> tuple[Coordinator, ...]:
    """Return what becomes of the coordinators of groups or transactions."""
    states: dict[int, str] = {}
    for kind, state in _STATES.items():
        for row in found.get(kind, ()):
            for partition in row.partitions if row.topic == topic else ():
                states.setdefault(partition, state)
    held = {partition: coordinated_by(view, topic, partition) for partition in states}
    return tuple(
        Coordinator(partition=partition, state=state, ids=() if (one := held[partition]) is None else one.known)
        for partition, state in sorted(states.items())
    )
