"""What is known of each partition, whoever keeps it: ZooKeeper's states, in KRaft the newest among the brokers' views."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafka_audit.model.tables import BrokerView, RegisteredPartition, Snapshot, ViewPartition, ViewTopic

Key = tuple[str, int]  # topic, partition


class PartitionState(NamedTuple):
    """Who holds a partition. `leader` is None where there is none."""

    replicas: tuple[int, ...]
    leader: int | None
    isr: tuple[int, ...]

    @property
    def missing(self) -> frozenset[int]:
        """Replicas that are out of the ISR, and a leader's place that nobody fills: then all of them."""
        return frozenset(self.replicas) if self.leader is None else frozenset(self.replicas) - frozenset(self.isr)


def _state(replicas: tuple[int, ...], leader: int | None, isr: tuple[int, ...] | None) -> PartitionState:
    return PartitionState(replicas, None if leader is None or leader < 0 else leader, isr or ())


def registered(rows: Iterable[RegisteredPartition]) -> Mapping[Key, PartitionState]:
    """Return ZooKeeper's word, of one look's rows."""
    return {(row.topic, row.partition): _state(row.replicas, row.leader, row.isr) for row in rows}


def among_views(snapshot: Snapshot, views: Iterable[BrokerView]) -> Mapping[Key, PartitionState]:
    """Return the state with the highest leader epoch that any of these views tells of each partition."""
    held = {view.topics_digest for view in views}
    contents = {row.topic_digest for row in snapshot.of(ViewTopic) if row.topics_digest in held}
    newest: dict[Key, ViewPartition] = {}
    for row in snapshot.of(ViewPartition):
        key = (row.topic, row.partition)
        known = newest.get(key)
        if row.topic_digest in contents and (known is None or (row.leader_epoch or 0) > (known.leader_epoch or 0)):
            newest[key] = row
    return {key: _state(row.replicas, row.leader, row.isr) for key, row in newest.items()}
