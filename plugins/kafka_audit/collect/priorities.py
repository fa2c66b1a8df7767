"""Which brokers and addresses are asked first, and at all where more are listed than `limits` allow. Pure.

A party that can write a znode or answer as a broker can list any number, with any id: `bounds.kept_brokers` decides by who
vouches for an id. Of those that are registered come first those that hold partitions, then those that are registered longest:
what floods the list comes after what was there.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain, zip_longest
from types import MappingProxyType

from kafka_audit.bounds.kept_brokers import Vouchers
from kafka_audit.clients.targets import Target
from kafka_audit.compare.addresses import normal_host
from kafka_audit.model.tables import RegisteredBroker, Row

MOST_OF_ONE = 100
"""Endpoints of one broker that are taken: it has as many listeners, and 10 are many."""

MOST_REPLICAS = 256
"""Replicas of one partition that are taken: usual are 3, and some clusters keep a small topic on each of a few dozen brokers.
What is computed for each replica reads the lists of its partition, so that work grows with the square of this number alone."""

Named = Collection[tuple[str, int]]
Claims = Mapping[str, Collection[int]]


def named_brokers(places: Iterable[tuple[int, str, int]], named: Named) -> list[int]:
    """Return the first broker at each address that the cluster file names: any number of ids can be listed at one."""
    found: dict[tuple[str, int], int] = {}
    for broker, host, port in places:
        address = normal_host(host), port
        if address in named:
            found.setdefault(address, broker)
    return [*dict.fromkeys(found.values())]


def brokers_by_registration(rows: Iterable[RegisteredBroker], assigned: Collection[int] = ()) -> list[int]:
    """Return the registered brokers, those first to which ZooKeeper assigns partitions, then those registered longest."""
    since = {row.broker_id: row.czxid for row in rows}
    return sorted(since, key=lambda broker: (broker not in assigned, since[broker], broker))


def vouchers_of_targets(  # noqa: PLR0913 -- who vouches
    listed: Mapping[int, Collection[Target]],
    rows: Iterable[Row],
    named: Named,
    *,
    assigned: Collection[int] = (),
    known: Iterable[int] = (),
    claims: Claims = MappingProxyType({}),
) -> Vouchers:
    """Return who vouches for the brokers that are listed with an address.

    Args:
        listed: targets by broker.
        rows: of ZooKeeper; none in KRaft.
        named: addresses in the cluster file, hosts in small letters.
        assigned: brokers to which ZooKeeper assigns partitions.
        known: brokers that answered before.
        claims: ids by the party that lists them.
    """
    registered = brokers_by_registration((row for row in rows if isinstance(row, RegisteredBroker)), assigned)
    registered = [broker for broker in registered if broker in listed]
    votes = Counter(chain.from_iterable(claims.values()))
    order = dict.fromkeys([*registered, *sorted(listed, key=lambda broker: (-votes[broker], broker))])
    places = (
        (broker, *place)
        for broker in order
        for target in listed[broker]
        for place in ((target.host, target.port), target.dialled)
    )
    return Vouchers(
        named=named_brokers(places, named),
        registered=registered,
        long_known=[broker for broker in known if broker in listed],
        claimed={
            **{party: [broker for broker in ids if broker in listed] for party, ids in claims.items()},
            "": [broker for broker in listed if broker not in votes],
        },
    )


def kept_targets(
    by_broker: Mapping[int, list[Target]], brokers: Iterable[int], named: Named, most: int
) -> dict[int, list[Target]]:
    """Return at most so many targets of these brokers, in their order: each has one before any has two."""
    known = frozenset(named)

    def in_file(target: Target) -> bool:
        return (normal_host(target.host), target.port) in known or (normal_host(target.dialled[0]), target.dialled[1]) in known

    order = [*brokers]
    if sum(len(by_broker[broker]) for broker in order) <= most:
        return {broker: by_broker[broker] for broker in order}
    found: dict[int, list[Target]] = {}
    for target in _in_turn(sorted(by_broker[broker], key=lambda target: not in_file(target)) for broker in order)[:most]:
        found.setdefault(target.broker_id, []).append(target)
    return found


def _in_turn(lists: Iterable[list[Target]]) -> list[Target]:
    return [target for turn in zip_longest(*lists) for target in turn if target is not None]
