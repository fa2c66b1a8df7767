"""What looks wrong in one reading, without regard to time. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from kafka_audit.watch.reading import BrokerReading, Reading, ZookeeperReading
from kafka_audit.watch.suspicions import Observation, WatchFault


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

    In ZooKeeper mode these are the ids in ZooKeeper; otherwise those that at least half of the views list that list any.
    """
    zookeeper = reference(reading)
    if zookeeper is not None:
        return zookeeper.brokers
    views = [broker.lists for broker in reading.brokers if broker.broker_id is not None and broker.lists]
    if not views:
        return None
    listed = Counter(broker for view in views for broker in view)
    return frozenset(broker for broker, times in listed.items() if 2 * times >= len(views))


def reference(reading: Reading) -> ZookeeperReading | None:
    """Return what ZooKeeper holds where it decides who is registered and who is controller, else None."""
    zookeeper = reading.zookeeper
    if zookeeper is None or not zookeeper.answer.answered or zookeeper.claimed or reading.kraft:
        return None
    return zookeeper


def reported_cluster_id(reading: Reading) -> str | None:
    """Return the cluster id of ZooKeeper, else the one that most brokers report, None if none does."""
    zookeeper = reference(reading)
    if zookeeper is not None and zookeeper.cluster_id is not None:
        return zookeeper.cluster_id
    return _most_common(broker.cluster_id for broker in reading.brokers if broker.cluster_id is not None)


def _most_common(values: Iterable[str]) -> str | None:
    counted = Counter(values).most_common(1)
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
    if not registered:
        registered = None
    for number, broker in sorted(brokers.items()):
        if broker.lists is None:
            continue
        if not broker.lists:
            yield Observation(fault=WatchFault.VIEW_EMPTY, broker=number, address=broker.address)
        elif registered is not None and number not in registered:
            yield Observation(fault=WatchFault.NOT_LISTED, broker=number, address=broker.address)
        elif registered is not None and broker.lists != registered:
            yield Observation(
                fault=WatchFault.VIEW_DIFFERS,
                broker=number,
                address=broker.address,
                missing=tuple(sorted(registered - broker.lists)),
                unregistered=tuple(sorted(broker.lists - registered)),
            )


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
        named = Counter(number for number in reported.values() if number is not None and number >= 0)
        if not named:
            return
        controller = named.most_common(1)[0][0]
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
    named = [(broker.leader_epoch or 0, broker.leader) for broker in brokers.values() if broker.leader is not None]
    leaders = sorted((epoch, leader) for epoch, leader in named if leader >= 0)
    from_controllers = Counter(
        one.leader for one in reading.controllers if one.answer.answered and one.leader is not None and one.leader >= 0
    )
    if leaders:
        leader = leaders[-1][1]
    elif from_controllers:
        leader = from_controllers.most_common(1)[0][0]
    else:
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
