"""What looks wrong in one reading, without regard to time. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from kafka_audit.compare.addresses import canonical_text
from kafka_audit.watch.reading import BrokerReading, Reading, ZookeeperReading
from kafka_audit.watch.suspicions import MOST_NAMED, Observation, WatchFault

HALF = 0.5
_NO_LEADER = -1
_T = TypeVar("_T")


def observations(reading: Reading, cluster_id: str | None = None) -> tuple[Observation, ...]:
    """Return everything that looks wrong.

    Args:
        reading: of now; it includes brokers that were known earlier, with the answer that they gave now.
        cluster_id: the cluster's as earlier readings or the cluster file give it; None if unknown.
    """
    brokers = {broker.broker_id: broker for broker in reading.brokers if broker.broker_id is not None}
    registered = registered_brokers(reading)
    return (
        *_unreachable(reading),
        *_zookeeper(reading),
        *_down(brokers, registered),
        *_views(brokers, registered),
        *_controller(reading, brokers),
        *_cluster_ids(brokers, cluster_id or reported_cluster_id(reading)),
        *(_quorum(reading, brokers) if reading.kraft else ()),
    )


def registered_brokers(reading: Reading) -> frozenset[int] | None:
    """Return the brokers that belong to the cluster now, None if no party says.

    In ZooKeeper mode these are the ids in ZooKeeper; otherwise those that at least half of the views list that count.
    """
    zookeeper = reference(reading)
    if zookeeper is not None:
        return zookeeper.brokers
    views = electorate(reading)
    return frozenset(broker for broker, share in shares(views).items() if share >= HALF) if views else None


def shares(views: Collection[BrokerReading]) -> dict[int, float]:
    """Return by how many of these views each broker is listed, as a share of 1."""
    listed: Counter[int] = Counter()
    for ids, times in Counter(broker.lists or frozenset() for broker in views).items():  # views of honest brokers are equal
        for broker in ids:
            listed[broker] += times
    return {broker: times / len(views) for broker, times in listed.items()}


def electorate(reading: Reading) -> tuple[BrokerReading, ...]:
    """Return the brokers that list any and whose views count where no ZooKeeper decides.

    A party can list any number of ids at addresses of its own, which then list each other. So these are the brokers that are
    vouched for, and those that more than half of them list; all that answer where none of them does. One address has one view.
    """
    views = list({canonical_text(broker.address): broker for broker in reversed(reading.brokers) if broker.lists}.values())[::-1]
    brokers = [broker for broker in views if broker.broker_id is not None]
    vouched = [broker for broker in brokers if broker.vouched] or [broker for broker in views if broker.vouched]
    if not vouched:
        return tuple(brokers or views)
    listed = shares(vouched)
    return tuple(broker for broker in brokers if broker.vouched or listed.get(broker.broker_id or 0, 0) > HALF) or tuple(vouched)


def reference(reading: Reading) -> ZookeeperReading | None:
    """Return what ZooKeeper holds where it decides who is registered and who is controller, else None."""
    zookeeper = reading.zookeeper
    if zookeeper is None or not zookeeper.answer.answered or zookeeper.claimed or reading.kraft:
        return None
    return zookeeper


def reported_cluster_id(reading: Reading) -> str | None:
    """Return the cluster id of ZooKeeper, else the one that most brokers report whose views count, None if none does."""
    zookeeper = reference(reading)
    if zookeeper is not None and zookeeper.cluster_id is not None:
        return zookeeper.cluster_id
    return _most_common(broker.cluster_id for broker in electorate(reading) or reading.brokers)


def _most_common(values: Iterable[_T | None]) -> _T | None:
    counted = Counter(value for value in values if value is not None).most_common(1)
    return counted[0][0] if counted else None


def _unreachable(reading: Reading) -> Iterator[Observation]:
    """Yield that no broker is known, and no bootstrap address answers."""
    asked = [broker.api_versions for broker in reading.brokers if broker.broker_id is None]
    if asked and len(asked) == len(reading.brokers) and all(answer.failed for answer in asked):
        yield Observation(fault=WatchFault.CLUSTER_UNREACHABLE, error=asked[0].error)


def _zookeeper(reading: Reading) -> Iterator[Observation]:
    if reading.zookeeper is not None and reading.zookeeper.answer.failed:
        yield Observation(fault=WatchFault.ZOOKEEPER_UNREACHABLE, error=reading.zookeeper.answer.error)


def _down(brokers: Mapping[int, BrokerReading], registered: frozenset[int] | None) -> Iterator[Observation]:
    for number, broker in sorted(brokers.items()):
        failed = next((answer for answer in (broker.api_versions, broker.metadata) if answer.failed), None)
        if failed is not None:
            fault = WatchFault.NO_ANSWER if registered is not None and number in registered else WatchFault.GONE
            yield Observation(fault=fault, broker=number, address=broker.address, error=failed.error)


def _views(brokers: Mapping[int, BrokerReading], registered: frozenset[int] | None) -> Iterator[Observation]:
    known: dict[frozenset[int], tuple[tuple[int, ...], tuple[int, ...]]] = {}  # views of honest brokers are equal
    for number, broker in sorted(brokers.items()):
        if broker.lists is None:
            continue
        if not broker.lists:
            yield Observation(fault=WatchFault.VIEW_EMPTY, broker=number, address=broker.address)
        elif registered and number not in registered:
            yield Observation(fault=WatchFault.NOT_LISTED, broker=number, address=broker.address)
        elif registered:
            if broker.lists not in known:
                known[broker.lists] = _first(registered - broker.lists), _first(broker.lists - registered)
            missing, unregistered = known[broker.lists]
            if missing or unregistered:
                yield Observation(
                    fault=WatchFault.VIEW_DIFFERS,
                    broker=number,
                    address=broker.address,
                    missing=missing,
                    unregistered=unregistered,
                )


def _first(ids: Collection[int]) -> tuple[int, ...]:
    return tuple(sorted(ids)[:MOST_NAMED])


def _controller(reading: Reading, brokers: Mapping[int, BrokerReading]) -> Iterator[Observation]:
    """Yield disagreement about the controller; in KRaft mode Metadata names a random broker, so nothing is compared."""
    if reading.kraft or (reading.zookeeper is not None and reading.zookeeper.claimed):
        return
    # An empty view names no controller either: that is one symptom, not two.
    reported = {number: broker.controller_id for number, broker in sorted(brokers.items()) if broker.lists}
    zookeeper = reference(reading)
    if zookeeper is not None:
        controller = zookeeper.controller
        if controller is None:
            yield Observation(fault=WatchFault.NO_CONTROLLER)
            return
    else:
        counted = {broker.broker_id for broker in electorate(reading)}
        controller = _most_common(said for number, said in reported.items() if number in counted and said != _NO_LEADER)
        if controller is None:
            return
    for number, said in reported.items():
        if said != controller:
            yield Observation(
                fault=WatchFault.CONTROLLER_DIFFERS,
                broker=number,
                address=brokers[number].address,
                reported=said,
                expected=controller,
            )


def _cluster_ids(brokers: Mapping[int, BrokerReading], right: str | None) -> Iterator[Observation]:
    for number, broker in sorted(brokers.items()):
        if right is not None and broker.cluster_id not in {None, right}:
            ids = (broker.cluster_id or "", right)
            yield Observation(fault=WatchFault.CLUSTER_ID_DIFFERS, broker=number, address=broker.address, ids=ids)


def _quorum(reading: Reading, brokers: Mapping[int, BrokerReading]) -> Iterator[Observation]:
    voters = [broker for broker in electorate(reading) if broker.leader is not None] or brokers.values()
    named = [(broker.leader_epoch or 0, broker.leader) for broker in voters if broker.leader is not None]
    # As most report; the newest where as many report another: one party that claims any epoch does not decide.
    leaders = Counter((epoch, leader) for epoch, leader in named if leader != _NO_LEADER)
    leader = max(leaders, key=lambda known: (leaders[known], known))[1] if leaders else None
    if leader is None:
        leader = _most_common(one.leader for one in reading.controllers if one.answer.answered and one.leader != _NO_LEADER)
    if leader is None:
        asked = [*(broker.quorum for broker in brokers.values()), *(one.answer for one in reading.controllers)]
        if named or any(answer.failed for answer in asked):
            yield Observation(fault=WatchFault.NO_QUORUM_LEADER)
        return
    for number, broker in sorted(brokers.items()):
        if broker.quorum.failed and leaders:
            yield Observation(fault=WatchFault.CUT_FROM_QUORUM, broker=number, address=broker.address, error=broker.quorum.error)
        elif broker.leader is not None and broker.leader != leader:
            yield _other_leader(number, broker.address, broker.leader, leader)
    for one in reading.controllers:
        if one.answer.failed:
            yield Observation(fault=WatchFault.NO_ANSWER, address=one.address, error=one.answer.error)
        elif one.leader is not None and one.leader != leader:
            yield _other_leader(None, one.address, one.leader, leader)


def _other_leader(broker: int | None, address: str, reported: int, leader: int) -> Observation:
    return Observation(fault=WatchFault.QUORUM_LEADER_DIFFERS, broker=broker, address=address, reported=reported, expected=leader)
