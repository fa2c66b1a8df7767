"""What becomes of topics, groups, transactions and share groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_audit.cluster.coordinators import coordinated_by
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LossCount, LossEffect
from kafka_audit.model.text import clean, counted

OFFLINE, UNCLEAN, NOT_WRITABLE, AT_RISK, BELOW_MARGIN = "offline", "unclean", "not_writable", "at_risk", "below_margin"
UNREACHED = "unreached"
LAST_COPY = "last_copy"
"""Of those at risk: three replicas or more, of which one was out of the ISR before, or does not reach the next leader."""
PARTITIONS = "partitions"
UNSAFE = (OFFLINE, UNCLEAN, UNREACHED, NOT_WRITABLE, BELOW_MARGIN)
"""Kinds for which a loss is not safe."""

LISTED = (OFFLINE, UNCLEAN, UNREACHED, NOT_WRITABLE, AT_RISK, BELOW_MARGIN)

GROUPS, TRANSACTIONS, SHARES = "__consumer_offsets", "__transaction_state", "__share_group_state"
_STATES = {OFFLINE: "gone", UNREACHED: "gone", UNCLEAN: "loses", NOT_WRITABLE: "refuses", "moved": "moves"}
"""What a coordinator does, the worst first."""


@dataclass(frozen=True, kw_only=True)
class TopicPartitions:
    """Partitions of a topic, sorted."""

    topic: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Coordinator:
    """What becomes of the groups, transactions or share groups whose id has the hash of a partition.

    Attributes:
        partition: of the topic in which they are kept.
        state: `moves` (to another broker), `refuses` (too few in sync), `loses` (what an unclean leader lacks) or `gone`.
        ids: those that the snapshot knows, sorted; none of share groups, whose keys name a partition that they read.
    """

    partition: int
    state: str
    ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Affected:
    """The partitions of which something becomes.

    Attributes:
        partitions: how many there are.
        topics: of how many topics.
        rows: all of them, in the order of topics; the first ten where only these were asked for.
    """

    partitions: int = 0
    topics: int = 0
    rows: tuple[TopicPartitions, ...] = ()

    @property
    def text(self) -> str:
        """How many, for a sentence."""
        number = counted(self.partitions, "partition")
        return f"{number} of {clean(self.rows[0].topic)}" if self.topics == 1 else f"{number} of {self.topics} topics"


Effects = Mapping[str, Affected]
"""By kind."""

NONE = Affected()


def effects(view: ClusterView) -> Mapping[str, Effects]:
    """Return what becomes of partitions, by the name of each loss; "" is what is so already.

    All of them where a user named the losses, otherwise the first ten.
    """
    found: dict[str, dict[str, Affected]] = {}
    if LossEffect not in view.differences.rows:
        for row in view.differences.of(LossCount):
            first: dict[str, list[int]] = {}
            for topic, partition in zip(row.first_topics, row.first_partitions, strict=True):
                first.setdefault(topic, []).append(partition)
            found.setdefault(row.loss, {})[row.kind] = _affected(first, row.partitions, row.topics)
        return found
    listed: dict[tuple[str, str], dict[str, Sequence[int]]] = {}
    for effect in view.differences.of(LossEffect):
        listed.setdefault((effect.loss, effect.kind), {})[effect.topic] = effect.partitions
    for (loss, kind), topics in listed.items():
        found.setdefault(loss, {})[kind] = _affected(topics, sum(map(len, topics.values())), len(topics))
    return found


def _affected(listed: Mapping[str, Sequence[int]], partitions: int, topics: int) -> Affected:
    rows = (TopicPartitions(topic=topic, partitions=tuple(numbers)) for topic, numbers in sorted(listed.items()))
    return Affected(partitions=partitions, topics=topics, rows=tuple(rows))


def coordinators(view: ClusterView, found: Effects, topic: str) -> tuple[Coordinator, ...]:
    """Return what becomes of the coordinators whose state is in a topic."""
    states: dict[int, str] = {}
    for kind, state in _STATES.items():
        for row in found.get(kind, NONE).rows:
            for partition in row.partitions if row.topic == topic else ():
                states.setdefault(partition, state)
    held = {partition: coordinated_by(view, topic, partition) for partition in states}
    return tuple(
        Coordinator(partition=partition, state=state, ids=() if (one := held[partition]) is None else one.known)
        for partition, state in sorted(states.items())
    )
