"""Who keeps a partition from having a leader: the brokers that hold its acknowledged records, and no other replica."""

from dataclasses import dataclass

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.tables import EligibleReplicas

Partition = tuple[str, int]
"""Topic and number."""


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Partitions without leader that wait for a broker.

    Attributes:
        partitions: those that are known.
        complete: whether there are no others. Not all partitions may be read, or listed.
    """

    partitions: frozenset[Partition]
    complete: bool


def held_up_by(view: ClusterView, topic: str, partition: int) -> frozenset[int]:
    """Return the brokers of which one must return before a partition without leader is led with every acknowledged record.

    The last ISR, and with eligible leader replicas (KIP-966) those. All replicas where neither is known: each may have the only
    records. None where the partition has a leader, or is not known.
    """
    state = view.partitions.state(topic, partition)
    if state is None or state.leader is not None:
        return frozenset()
    eligible = view.derived(_eligible).get((topic, partition), frozenset())
    return frozenset(state.isr) | eligible or frozenset(state.replicas)


def _eligible(view: ClusterView) -> dict[Partition, frozenset[int]]:
    """Return the eligible replicas of each partition, made once: what a party lists is not searched for each partition."""
    found: dict[Partition, frozenset[int]] = {}
    for row in view.newest(EligibleReplicas):
        key = row.topic, row.partition
        found[key] = found.get(key, frozenset()).union(row.eligible)
    return found


def waiting_for(view: ClusterView, broker: int) -> Waiting:
    """Return the partitions without leader whose records a broker has, perhaps as the only one."""
    leaderless = [(row.topic, row.partition) for row in view.partitions.of_kind("leaderless")]
    return Waiting(
        partitions=frozenset(key for key in leaderless if broker in held_up_by(view, *key)),
        complete=view.gap("topics") is None
        and view.partitions.count.partitions > 0
        and view.partitions.unlisted("leaderless") == 0,
    )
