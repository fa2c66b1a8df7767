"""KRaft brokers that are registered and in use, and that Metadata does not list: they lack the listener of the question.

Metadata lists the brokers that are not fenced and have the listener on which it was asked; replicas of all others are offline.
Controllers take a fenced broker out of every ISR that has another member, and a partition whose ISR is that broker alone has no
leader. So a broker that is offline and in the ISR of a partition with a leader is registered and not fenced. Source:
`kafka.server.metadata.KRaftMetadataCache.isReplicaOffline`, `ReplicationControlManager.handleBrokerFenced`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from kafka_audit.cluster.views import HeldView
from kafka_audit.differences.tables import ListCount
from kafka_audit.model.tables import ViewBroker

Lacking = Mapping[str, frozenset[int]]
"""Brokers that lack a listener, by its name."""


def lacking(
    views: Iterable[HeldView],
    counts: Mapping[str, ListCount],
    listed: Mapping[str, tuple[ViewBroker, ...]],
    fenced: Collection[int],
) -> Lacking:
    """Return the brokers that the views of one sample show to lack the listener on which each was given.

    A broker that gave a view on a listener has it: several may be nameless. So has one that is reported as fenced there.
    """
    found, holders = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
    for held in views:
        if not held.foreign:
            count = counts.get(held.row.topics_digest)
            there = {row.broker_id for row in listed.get(held.row.brokers_digest, ())}
            found[held.row.listener].update(set(count.offline_in_sync) - there if count else ())
            holders[held.row.listener].add(held.broker_id)
    return {listener: frozenset(away) for listener, brokers in found.items() if (away := brokers - holders[listener] - {*fenced})}
