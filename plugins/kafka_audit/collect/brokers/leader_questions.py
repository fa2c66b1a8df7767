"""The ListOffsets requests: reported leaders, and brokers that may have led. Pure.

A reported leader that denies its role serves no client. A former leader returns 6 NOT_LEADER_OR_FOLLOWER, and every client
then refreshes its metadata. With a failed disk it returns 56 KAFKA_STORAGE_ERROR, and some clients do not refresh.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.rows.columns import NONE, Flags, Ints, Lists, int_column, positions, texts
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerView,
    LogDir,
    Reassignment,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    TopicConfig,
    ViewPartition,
)

TRANSACTIONS, OFFSETS, SHARES = "__transaction_state", "__consumer_offsets", "__share_group_state"
"""Topics that exist from the first transactional producer on, the first consumer group, and the first share group on."""

MOST_COPIED = 2000
"""Partitions that are copied of which the sizes of replicas are asked."""

_SHIFT = 32  # partitions and brokers are Java's ints
_TIERED, _SEGMENT = "remote.storage.enable", "segment.bytes"
_LONGEST, _FIFTEEN_MINUTES = "transaction.max.timeout.ms", 900_000


class LeaderQuestion(NamedTuple):
    """One partition that a broker is asked about; `leader` and `leader_epoch` are the reference's."""

    topic: str
    partition: int
    as_leader: bool
    leader: int | None
    leader_epoch: int | None
    preferred: bool
    listed_offline: bool


@dataclass(frozen=True, kw_only=True)
class LeaderQuestions:
    """What one broker is asked about, topic by topic, as columns; a leader or an epoch that is not known is `NONE`."""

    topics: Sequence[str]
    topic: Ints  # place in `topics`
    partition: Ints
    as_leader: Flags
    leader: Ints
    leader_epoch: Ints
    preferred: Flags
    listed_offline: Flags

    def __len__(self) -> int:
        """How many partitions there are."""
        return len(self.topic)

    def part(self, start: int, end: int) -> "LeaderQuestions":
        """Return some of them."""
        return self.at(np.arange(start, min(end, len(self))))

    def at(self, places: Ints) -> "LeaderQuestions":
        """Return those at some places, which rise."""
        return LeaderQuestions(
            topics=self.topics,
            topic=self.topic[places],
            partition=self.partition[places],
            as_leader=self.as_leader[places],
            leader=self.leader[places],
            leader_epoch=self.leader_epoch[places],
            preferred=self.preferred[places],
            listed_offline=self.listed_offline[places],
        )

    def one(self, place: int) -> LeaderQuestion:
        """Return one of them."""
        leader, epoch = int(self.leader[place]), int(self.leader_epoch[place])
        return LeaderQuestion(
            topic=self.topics[self.topic[place]],
            partition=int(self.partition[place]),
            as_leader=bool(self.as_leader[place]),
            leader=None if leader == NONE else leader,
            leader_epoch=None if epoch == NONE else epoch,
            preferred=bool(self.preferred[place]),
            listed_offline=bool(self.listed_offline[place]),
        )


@dataclass(frozen=True, kw_only=True)
class LeaderQuestionPlan:
    """The partitions to request, by broker.

    Attributes:
        questions: by broker id, as many as it holds partitions at most.
        offline: how many partitions some view lists each broker as offline for.
        disks_fail: whether a broker that answers has a failed log dir, or some view lists its replicas as offline.
        transaction_ms: how long a transaction may be open, by the brokers' settings; None where the topic of transactions does
            not exist, so that there is none.
        coordinators: how many partitions the topic of group coordinators has; 0: it does not exist.
        shares: whether the topic of share groups exists.
        elr_topics: topics of KRaft that an eligible replica may lead: without a leader first, then with replicas out of sync.
        copied: by broker id, replicas of partitions that are reassigned, or whose ISR lacks a replica.
        topics: those that a user asks about: who reads them, and whether something is written to them.
        tiered: topics with remote storage, each with the bytes of a segment that it sets.
    """

    questions: Mapping[int, LeaderQuestions]
    offline: Mapping[int, int]
    disks_fail: bool
    transaction_ms: int | None = None
    coordinators: int = 0
    shares: bool = False
    elr_topics: Sequence[str] = ()
    copied: Mapping[int, Sequence[tuple[str, int]]] = field(default_factory=dict)
    topics: frozenset[str] = frozenset()
    tiered: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Reference:
    """Who leads what, as far as is known; each partition has replicas."""

    topics: pa.StringArray
    topic: Ints
    partition: Ints
    replicas: Lists
    leader: Ints
    leader_epoch: Ints
    behind: Flags  # fewer are in sync than there are replicas


def plan_leader_questions(collected: Collected, book: ViewBook) -> LeaderQuestionPlan:
    """Return what to ask after everything else of a sample was read.

    Args:
        collected: what the sample gave so far.
        book: holds the contents of its views.
    """
    views = _of_one_cluster([row for row in collected.rows if isinstance(row, BrokerView)])
    listed = book.large({view.topics_digest for view in views})[ViewPartition]
    failed = {row.broker_id for row in collected.rows if isinstance(row, LogDir) and row.error}
    with_zookeeper = any(isinstance(row, Registry) for row in collected.rows)
    reference = _registered(collected) if with_zookeeper else _newest(listed)
    offline = _offline(listed)
    # One row for each replica of each partition.
    replicas = reference.replicas
    owner, broker = replicas.owners(), replicas.flat()
    as_leader = broker == reference.leader[owner]
    preferred = broker == replicas.values[replicas.offsets[:-1]][owner]
    listed_offline = _are_offline(reference, owner, broker, offline)
    asked = np.flatnonzero(as_leader | preferred | listed_offline | np.isin(broker, [*failed]))
    asked = asked[np.lexsort((reference.topic[owner[asked]], broker[asked]))]
    owner, broker = owner[asked], broker[asked]
    everything = LeaderQuestions(
        topics=reference.topics.to_pylist(),
        topic=reference.topic[owner],
        partition=reference.partition[owner],
        as_leader=as_leader[asked],
        leader=reference.leader[owner],
        leader_epoch=reference.leader_epoch[owner],
        preferred=preferred[asked],
        listed_offline=listed_offline[asked],
    )
    begins = [*np.flatnonzero(np.diff(broker, prepend=broker[:1] - 1)).tolist(), len(broker)]
    questions = {int(broker[begin]): everything.part(begin, end) for begin, end in pairwise(begins)}
    counts = dict(zip(*(counts.tolist() for counts in np.unique(offline.broker, return_counts=True)), strict=True))
    answering = {view.broker_id for view in views}
    return LeaderQuestionPlan(
        questions=questions,
        offline=counts,
        disks_fail=bool(answering & (failed | counts.keys())),
        coordinators=_partitions(reference, OFFSETS),
        shares=_partitions(reference, SHARES) > 0,
        elr_topics=() if with_zookeeper else _elr_topics(reference),
        copied=_copied(collected, reference),
        transaction_ms=_longest_transaction(collected) if TRANSACTIONS in set(everything.topics) else None,
    )


def tiered_topics(collected: Collected) -> Mapping[str, int | None]:
    """Return the topics with remote storage, each with the bytes of a segment that it sets."""
    settings = collected.columns(TopicConfig)
    some = settings.filter(pc.is_in(settings.column("key"), value_set=pa.array([_TIERED, _SEGMENT]))).to_pylist()
    sizes = {row["topic"]: integer(row["value"]) for row in some if row["key"] == _SEGMENT}
    return {row["topic"]: sizes.get(row["topic"]) for row in some if (row["key"], row["value"].lower()) == (_TIERED, "true")}


def _partitions(reference: _Reference, topic: str) -> int:
    return int(np.count_nonzero(reference.topic == pc.index(reference.topics, topic).as_py()))


def _elr_topics(reference: _Reference) -> Sequence[str]:
    names = reference.topics.to_pylist()
    first, second = (np.unique(reference.topic[places]).tolist() for places in (reference.leader < 0, reference.behind))
    return [names[place] for place in dict.fromkeys([*first, *second])]


def _copied(collected: Collected, reference: _Reference) -> Mapping[int, Sequence[tuple[str, int]]]:
    """Return the replicas of up to `MOST_COPIED` partitions by broker, those that are reassigned first."""
    moving = [row for row in collected.rows if isinstance(row, Reassignment)]
    holders = {(row.topic, row.partition): {*row.replicas, *row.adding} for row in moving}
    for place in np.flatnonzero(reference.behind)[:MOST_COPIED].tolist():
        name = reference.topics[int(reference.topic[place])].as_py(), int(reference.partition[place])
        begin, end = reference.replicas.offsets[place : place + 2]
        holders.setdefault(name, set()).update(reference.replicas.values[begin:end].tolist())
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for name, brokers in list(holders.items())[:MOST_COPIED]:
        for broker in brokers:
            found[broker].append(name)
    return found


def _longest_transaction(found: Collected) -> int:
    """Return the longest transaction.max.timeout.ms of the brokers that report it, otherwise Kafka's default."""
    values = [row.value for row in found.rows if isinstance(row, BrokerConfig) and row.key == _LONGEST and row.value]
    return max((number for value in values if (number := integer(value) or 0) > 0), default=_FIFTEEN_MINUTES)


def _of_one_cluster(views: list[BrokerView]) -> list[BrokerView]:
    """Leave out views of another cluster."""
    most = Counter(view.kafka_cluster_id for view in views).most_common(1)
    return [view for view in views if view.kafka_cluster_id == most[0][0]]


def _registered(collected: Collected) -> _Reference:
    topics, partitions = collected.columns(RegisteredTopic), collected.columns(RegisteredPartition)
    deleting = texts(topics, "topic").filter(topics.column("deleting").combine_chunks())
    partitions = partitions.filter(pc.invert(pc.is_in(partitions.column("topic"), value_set=deleting)))
    return _with_replicas(partitions)


def _with_replicas(partitions: pa.Table) -> _Reference:
    partitions = partitions.filter(pc.greater(pc.list_value_length(partitions.column("replicas")), 0))
    topics, replicas = pc.unique(texts(partitions, "topic")), Lists.column(partitions, "replicas")
    return _Reference(
        topics=topics,
        topic=positions(texts(partitions, "topic"), topics),
        partition=int_column(partitions, "partition"),
        replicas=replicas,
        leader=int_column(partitions, "leader"),
        leader_epoch=int_column(partitions, "leader_epoch"),
        behind=Lists.column(partitions, "isr").lengths < replicas.lengths,
    )


def _newest(listed: pa.Table) -> _Reference:
    """Return each partition as the view of its highest leader epoch has it."""
    whole = _with_replicas(listed)
    epoch = np.where(whole.leader_epoch == NONE, -1, whole.leader_epoch)
    order = np.lexsort((-epoch, whole.partition, whole.topic))  # stable: of equal epochs the first counts
    same = (np.diff(whole.topic[order], prepend=-1) == 0) & (np.diff(whole.partition[order], prepend=-1) == 0)
    first = order[~same]
    return _Reference(
        topics=whole.topics,
        topic=whole.topic[first],
        partition=whole.partition[first],
        replicas=whole.replicas.take(first),
        leader=whole.leader[first],
        leader_epoch=whole.leader_epoch[first],
        behind=whole.behind[first],
    )


@dataclass(frozen=True, kw_only=True)
class _Offline:
    """Replicas that some view lists as offline, each once."""

    topics: pa.StringArray
    topic: Ints
    partition: Ints
    broker: Ints


def _offline(listed: pa.Table) -> _Offline:
    some = listed.filter(pc.greater(pc.list_value_length(listed.column("offline_replicas")), 0))
    topics, replicas = pc.unique(texts(some, "topic")), Lists.column(some, "offline_replicas")
    owner = replicas.owners()
    topic = positions(texts(some, "topic"), topics)[owner]
    distinct = np.unique(np.stack((topic, int_column(some, "partition")[owner], replicas.flat())), axis=1)
    return _Offline(topics=topics, topic=distinct[0], partition=distinct[1], broker=distinct[2])


def _are_offline(reference: _Reference, owner: Ints, broker: Ints, offline: _Offline) -> Flags:
    """Return which replicas of the reference some view lists as offline."""
    if not len(offline.topic):
        return np.zeros(len(owner), np.bool_)
    topic = positions(offline.topics, reference.topics)[offline.topic]
    wanted = (topic << _SHIFT | offline.partition)[topic >= 0]
    partitions, place = np.unique(wanted, return_inverse=True)
    own = reference.topic << _SHIFT | reference.partition
    at = np.searchsorted(partitions, own)
    there = (at < len(partitions)) & (partitions[np.minimum(at, len(partitions) - 1)] == own) if len(partitions) else own < 0
    candidates = np.flatnonzero(there[owner])
    pairs = (at[owner[candidates]] << _SHIFT) + broker[candidates]
    found = np.zeros(len(owner), np.bool_)
    found[candidates] = np.isin(pairs, (place << _SHIFT) + offline.broker[topic >= 0])
    return found
