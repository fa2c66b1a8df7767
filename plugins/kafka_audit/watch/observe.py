"""What looks wrong in one reading, without regard to time. Pure.

Whether a view differs, and who leads, lags or answers in the quorum, is asked of `cluster`, as an audit does: what it would not
find is not suspected.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from kafka_audit.cluster.disagreements import Claim
from kafka_audit.model.quorum import most_elections, unapplied
from kafka_audit.model.tables import QuorumView
from kafka_audit.watch.reading import BrokerReading, ControllerReading
from kafka_audit.watch.seen_cluster import SeenCluster
from kafka_audit.watch.suspicions import MOST_NAMED, Observation, WatchFault


def observations(seen: SeenCluster, committed: int | None = None, elected: int = 0) -> tuple[Observation, ...]:
    """Return everything that looks wrong.

    Args:
        seen: what the reading shows; it includes brokers that were known earlier, with the answer that they gave now.
        committed: the high watermark of the metadata log in the reading before; None if it is unknown.
        elected: by how much the epoch of the quorum rose lately.
    """
    return (
        *_unreachable(seen),
        *_down(seen),
        *_views(seen),
        *_controller(seen),
        *(_quorum(seen, committed, elected) if seen.kraft else ()),
    )


def _unreachable(seen: SeenCluster) -> Iterator[Observation]:
    """Yield that ZooKeeper does not answer; that no broker is known, and no bootstrap address answers."""
    reading = seen.reading
    asked = [broker.api_versions for broker in reading.brokers]
    if asked and not seen.brokers and all(answer.failed for answer in asked):
        yield Observation(fault=WatchFault.CLUSTER_UNREACHABLE, error=asked[0].error)
    if reading.zookeeper is not None and reading.zookeeper.answer.failed:
        yield Observation(fault=WatchFault.ZOOKEEPER_UNREACHABLE, error=reading.zookeeper.answer.error)


def _down(seen: SeenCluster) -> Iterator[Observation]:
    for number, broker in sorted(seen.brokers.items()):
        failed = next((answer for answer in (broker.api_versions, broker.metadata) if answer.failed), None)
        if failed is not None:
            fault = WatchFault.NO_ANSWER if number in (seen.registered or ()) else WatchFault.GONE
            yield Observation(fault=fault, broker=number, address=broker.address, error=failed.error)


def _views(seen: SeenCluster) -> Iterator[Observation]:
    """Yield how views differ in what checks judge: KA105, KA106, KA110, KA113 and KA202."""
    for number, broker in sorted(seen.brokers.items()):
        found: dict[str, list[Claim]] = {}
        for claim in seen.claims.get(number, ()):
            found.setdefault(claim.kind, []).append(claim)
        if "empty_view" in found:  # it names no controller either: that is one symptom, not two
            yield _of(WatchFault.VIEW_EMPTY, broker)
        elif "unlisted" in found or (seen.zookeeper is not None and broker.lists and number not in seen.zookeeper.brokers):
            yield _of(WatchFault.NOT_LISTED, broker)
        else:
            missing, elsewhere = (_subjects(found.get(kind, ())) for kind in ("broker_missing", "endpoint"))
            if missing or elsewhere:
                yield _of(WatchFault.VIEW_DIFFERS, broker, missing=missing, elsewhere=elsewhere)
            expected = None if seen.registry.state is None else seen.registry.state.controller_id
            for claim in found.get("controller", ()):
                yield _of(WatchFault.CONTROLLER_DIFFERS, broker, reported=claim.subject, expected=expected)
        for claim in found.get("cluster_id", ()):
            yield _of(WatchFault.CLUSTER_ID_DIFFERS, broker, ids=(claim.view, claim.reference))


def _of(fault: WatchFault, broker: BrokerReading, **details: object) -> Observation:
    return Observation(fault=fault, broker=broker.broker_id, address=broker.address, **details)  # type: ignore[arg-type]


def _subjects(claims: Iterable[Claim]) -> tuple[int, ...]:
    return tuple(sorted({claim.subject for claim in claims if claim.subject is not None})[:MOST_NAMED])


def _controller(seen: SeenCluster) -> Iterator[Observation]:
    zookeeper = seen.zookeeper
    state = seen.registry.state
    if zookeeper is not None and not zookeeper.claimed and state is not None and state.controller_id is None:
        yield Observation(fault=WatchFault.NO_CONTROLLER)


def _quorum(seen: SeenCluster, committed: int | None, elected: int) -> Iterator[Observation]:
    quorum, newest = seen.quorum.now, seen.quorum.now.newest
    for controller in seen.reading.controllers:
        if controller.answer.failed:
            yield Observation(fault=WatchFault.NO_ANSWER, address=controller.address, error=controller.answer.error)
    if newest is None:
        if quorum.leaderless or seen.quorum.unanswered:
            yield Observation(fault=WatchFault.NO_QUORUM_LEADER)
        return
    if elected > most_elections(len(quorum.voters)):
        yield Observation(fault=WatchFault.QUORUM_ELECTS)
    yield from _leaders(seen, newest)
    yield from _followers(seen, newest.leader_id, committed)


def _followers(seen: SeenCluster, leader: int, committed: int | None) -> Iterator[Observation]:
    """Yield who does not follow the leader, and who does not apply what it commits."""
    quorum = seen.quorum.now
    down = tuple(voter for voter in quorum.voters if voter in quorum.late)[:MOST_NAMED]
    if down:
        yield Observation(fault=WatchFault.VOTERS_LAG, missing=down, expected=leader)
    applied = {number: broker.applied for number, broker in seen.brokers.items() if broker.applied is not None}
    stale = unapplied(applied, quorum.replicas, committed, seen.committed)
    for number, broker in sorted(seen.brokers.items()):
        if broker.quorum.failed:
            yield _of(WatchFault.CUT_FROM_QUORUM, broker, error=broker.quorum.error)
        if broker.metadata.answered and number in quorum.late:
            yield _of(WatchFault.BROKER_LAGS, broker, expected=leader)
        elif broker.metadata.answered and number in stale:
            # It stands still if it is the same offset in the next reading; one that starts applies what it missed.
            yield _of(WatchFault.NOT_APPLIED, broker, reported=broker.applied)


def _leaders(seen: SeenCluster, newest: QuorumView) -> Iterator[Observation]:
    """Yield who reports another leader than the newest answer, where at least half agree with that.

    One party can claim any epoch: it names no leader alone, and shows only that the answers differ.
    """
    agree = Counter(view.leader_id == newest.leader_id for view in seen.quorum.now.views)
    if agree[True] < agree[False]:
        yield Observation(fault=WatchFault.QUORUM_LEADERS_DIFFER)
        return
    parties: list[BrokerReading | ControllerReading] = [*seen.brokers.values(), *seen.reading.controllers]
    for party in parties:
        if party.led is not None and party.led.leader_id != newest.leader_id:
            yield Observation(
                fault=WatchFault.QUORUM_LEADER_DIFFERS,
                broker=party.broker_id if isinstance(party, BrokerReading) else None,
                address=party.address,
                reported=party.led.leader_id,
                expected=newest.leader_id,
            )
