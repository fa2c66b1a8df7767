"""Which brokers and addresses are asked first, and at all where more are listed than `limits` allow. Pure.

A party that can write a znode or answer as a broker can list any number, with any id. An id therefore means nothing. First come
those that the cluster file names, then those that hold partitions, then those that are registered longest: what floods the list
comes after what was there.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import zip_longest

from kafka_audit.collect.connections.targets import Target
from kafka_audit.model.tables import RegisteredBroker, Row
from kafka_audit.model.trusted_hosts import normal_host

MOST_OF_ONE = 100
"""Endpoints of one broker that are taken: it has as many listeners, and 10 are many."""

Named = Collection[tuple[str, int]]


def order(listed: Collection[int], rows: Iterable[Row], assigned: Collection[int] = ()) -> list[int]:
    """Return these brokers, those first to which ZooKeeper assigns partitions, then those that it has registered longest."""
    since = {row.broker_id: row.czxid for row in rows if isinstance(row, RegisteredBroker)}
    return sorted(listed, key=lambda broker: (broker not in assigned, since.get(broker, 0)))


def prioritized_targets(
    by_broker: Mapping[int, list[Target]], named: Named, most_brokers: int, most_targets: int
) -> dict[int, list[Target]]:
    """Return the targets of as many brokers as may be asked: each has one before any has two.

    Args:
        by_broker: targets by broker, in the order of `brokers`; those that the cluster file names come first all the same.
        named: addresses in the cluster file, hosts in small letters.
        most_brokers: how many brokers.
        most_targets: how many targets of all of them.
    """
    known = frozenset(named)

    def in_file(target: Target) -> bool:
        return (normal_host(target.host), target.port) in known or (normal_host(target.dialled[0]), target.dialled[1]) in known

    order = sorted(by_broker, key=lambda broker: not any(map(in_file, by_broker[broker])))[:most_brokers]
    if sum(len(by_broker[broker]) for broker in order) <= most_targets:
        return {broker: by_broker[broker] for broker in order}
    found: dict[int, list[Target]] = {}
    for target in _in_turn(sorted(by_broker[broker], key=lambda target: not in_file(target)) for broker in order)[:most_targets]:
        found.setdefault(target.broker_id, []).append(target)
    return found


def _in_turn(lists: Iterable[list[Target]]) -> list[Target]:
    return [target for layer in zip_longest(*lists) for target in layer if target is not None]
