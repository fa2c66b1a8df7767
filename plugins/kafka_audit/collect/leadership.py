"""Whom to ask by ListOffsets, and about what: who is said to lead, and who may have led. Pure.

A broker that is said to lead and denies it serves nobody. One that does not lead any more answers 6 NOT_LEADER_OR_FOLLOWER, at
which every client looks for the leader anew; from a dead disk it answers 56 KAFKA_STORAGE_ERROR instead, at which not all do.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kafka_audit.collect.views import ViewBook
from kafka_audit.model.tables import BrokerView, LogDir, RegisteredPartition, RegisteredTopic, Registry, Row


class Question(NamedTuple):
    """One partition that a broker is asked about; `leader` and `leader_epoch` are the reference's."""

    topic: str
    partition: int
    as_leader: bool
    leader: int | None
    leader_epoch: int | None
    preferred: bool
    listed_offline: bool


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to ask whom.

    Attributes:
        questions: by broker id, as many as it holds partitions at most.
        offline: how many partitions some view lists each broker as offline for.
        disks_fail: whether a broker that answers has a failed log dir, or some view lists its replicas as offline.
    """

    questions: Mapping[int, list[Question]]
    offline: Mapping[int, int]
    disks_fail: bool


class _Held(NamedTuple):
    topic: str
    partition: int
    replicas: tuple[int, ...]
    leader: int | None
    leader_epoch: int | None


def plan(rows: Iterable[Row], book: ViewBook) -> Plan:
    """Return what to ask after everything else of a sample was read.

    Args:
        rows: of the sample so far.
        book: holds the contents of its views.
    """
    found = [*rows]
    views = _of_one_cluster([row for row in found if isinstance(row, BrokerView)])
    digests = {view.topics_digest for view in views}
    offline: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for topic, one in book.partitions(digests):
        if one.offline_replicas:
            offline[topic, one.partition].update(one.offline_replicas)
    failed = {row.broker_id for row in found if isinstance(row, LogDir) and row.error}
    with_zookeeper = any(isinstance(row, Registry) for row in found)
    partitions = _registered(found) if with_zookeeper else _newest(book, digests)
    questions: defaultdict[int, list[Question]] = defaultdict(list)
    for topic, number, replicas, leader, epoch in partitions:
        listed = offline.get((topic, number), ()) if offline else ()
        for broker in replicas:
            preferred = broker == replicas[0]
            if broker == leader or preferred or broker in listed or broker in failed:
                question = Question(topic, number, broker == leader, leader, epoch, preferred, broker in listed)
                questions[broker].append(question)
    counts = Counter(broker for brokers in offline.values() for broker in brokers)
    answering = {view.broker_id for view in views}
    return Plan(questions=dict(questions), offline=counts, disks_fail=bool(answering & (failed | counts.keys())))


def _of_one_cluster(views: list[BrokerView]) -> list[BrokerView]:
    """Leave out views of another cluster: a broker that strayed there tells nothing of this one."""
    most = Counter(view.kafka_cluster_id for view in views).most_common(1)
    return [view for view in views if view.kafka_cluster_id == most[0][0]]


def _registered(rows: Iterable[Row]) -> Iterator[_Held]:
    found = [*rows]
    deleting = {row.topic for row in found if isinstance(row, RegisteredTopic) and row.deleting}
    for row in found:
        if isinstance(row, RegisteredPartition) and row.topic not in deleting and row.replicas:
            yield _Held(row.topic, row.partition, row.replicas, row.leader, row.leader_epoch)


def _newest(book: ViewBook, digests: set[str]) -> Iterator[_Held]:
    """Yield each partition as the view of its highest leader epoch has it."""
    newest: dict[tuple[str, int], tuple[int, _Held]] = {}
    for topic, one in book.partitions(digests):
        epoch = -1 if one.leader_epoch is None else one.leader_epoch
        if one.replicas and epoch > newest.get((topic, one.partition), (-2, None))[0]:
            held = _Held(topic, one.partition, one.replicas, one.leader, one.leader_epoch)
            newest[topic, one.partition] = (epoch, held)
    for _, held in newest.values():
        yield held
