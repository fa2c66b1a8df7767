"""Who keeps a partition from having a leader, or its full ISR: the brokers that it waits for, and no other replica."""

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.tables import EligibleReplicas

Partition = tuple[str, int]
"""Topic and number."""


def held_up_by(view: ClusterView, topic: str, partition: int) -> frozenset[int]:
    """Return the brokers that a partition with a fault waits for; none where it has no fault, or is not known.

    Without a leader those of which one must return before it is led with every acknowledged record: the last ISR, and with
    eligible leader replicas (KIP-966) those; all replicas where neither is known, as each may have the only records. With a
    leader the replicas that are out of the ISR.
    """
    state = view.partitions.state(topic, partition)
    if state is None:
        return frozenset()
    if state.leader is not None:
        return frozenset(state.missing)
    eligible = view.derived(_eligible).get((topic, partition), frozenset())
    return frozenset(state.isr) | eligible or frozenset(state.replicas)


def _eligible(view: ClusterView) -> dict[Partition, frozenset[int]]:
    """Return the eligible replicas of each partition, made once: what a party lists is not searched for each partition."""
    found: dict[Partition, frozenset[int]] = {}
    for row in view.newest(EligibleReplicas):
        key = row.topic, row.partition
        found[key] = found.get(key, frozenset()).union(row.eligible)
    return found


def waiting_for(view: ClusterView, broker: int) -> frozenset[Partition]:
    """Return the partitions without leader whose records a broker has, perhaps as the only one; see `all_waiting_known`."""
    return view.derived(_waiting).get(broker, frozenset())


def all_waiting_known(view: ClusterView) -> bool:
    """Return whether no other partition waits for a broker: all topics were read, and no fault is left out of the lists."""
    unread = view.gap("topics") is not None or not view.partitions.count.partitions
    return not unread and not view.partitions.unlisted("leaderless")


def _waiting(view: ClusterView) -> dict[int, frozenset[Partition]]:
    """Return the partitions without leader by the brokers that they wait for, made once."""
    found: dict[int, set[Partition]] = {}
    for row in view.partitions.of_kind("leaderless"):
        for broker in held_up_by(view, row.topic, row.partition):
            found.setdefault(broker, set()).add((row.topic, row.partition))
    return {broker: frozenset(keys) for broker, keys in found.items()}
