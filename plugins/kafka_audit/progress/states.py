"""What is in one state until it is done: topics in deletion, leaders that are away, and coordinators that load partitions."""

from collections.abc import Iterable, Iterator

from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import BrokerShare, DeletedTopic, LeaderMove
from kafka_audit.model.tables import CoordinatorPartition, GroupCoordinator
from kafka_audit.model.text import brokers, counted
from kafka_audit.progress.rule import Observed

COORDINATOR_ERRORS = {14: "COORDINATOR_LOAD_IN_PROGRESS", 15: "COORDINATOR_NOT_AVAILABLE", 16: "NOT_COORDINATOR"}


def deletions(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each topic that is marked for deletion, with ZooKeeper: KRaft deletes at once."""
    for row in view.differences.of(DeletedTopic):
        gone = row.unregistered
        yield Observed(
            kind="deletion",
            parties=(f"topic/{row.topic}",),
            what=f"deletion of topic {row.topic}",
            now="marked",
            snapshot="marked" if row.before else None,
            was_there=row.before,
            unit="state",
            waits_for=f"{brokers(gone)}, not registered" if gone else "",
        )


_HANDFUL = 10
"""Partitions; fewer that are led elsewhere make no difference to the load."""

_REBALANCE = "auto.leader.rebalance.enable"


def led_elsewhere(view: ClusterView) -> list[BrokerShare]:
    """Return the brokers that do not lead what prefers them, above Kafka's own limit of 10 %."""
    return [share for share in view.partitions.shares.values() if share.preferred_elsewhere * 10 > share.preferred]


def many_led_elsewhere(view: ClusterView) -> list[BrokerShare]:
    """Return the same brokers, unless their partitions are few."""
    away = led_elsewhere(view)
    return away if sum(share.preferred_elsewhere for share in away) >= _HANDFUL else []


def leaders_stay(view: ClusterView) -> bool:
    """Return whether no controller, nor who may become one, moves leaders back by itself."""
    nodes = view.settings.with_controller_role if view.kraft else view.brokers
    return bool(nodes) and all(view.settings.get(node, _REBALANCE).value == "false" for node in nodes)


def leaders_away(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each of these brokers, unless their leaders wait for a person."""
    moves = {row.broker_id: row for row in view.differences.of(LeaderMove)}
    for share in () if leaders_stay(view) else many_led_elsewhere(view):
        move = moves.get(share.broker_id)
        yield Observed(
            kind="leaders",
            parties=(f"broker/{share.broker_id}",),
            what=f"return of {counted(share.preferred_elsewhere, 'leader')} to broker {share.broker_id}",
            now=share.led,
            snapshot=None if move is None else move.led,
            was_there=move is not None and share.preferred_elsewhere > move.moved,
            unit="partitions that it leads",
            waits_for="a preferred election",
        )


def loading_coordinators(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each group coordinator that is not ready in the newest sample, or not for all of its partitions.

    Earlier versions did not ask about partitions: their snapshots have what it answers as a whole, which is another measure.
    """
    before, earlier = (
        _Coordinators(*rows)
        for rows in (
            (view.before(GroupCoordinator), view.before(CoordinatorPartition)),
            (view.earlier(GroupCoordinator), view.earlier(CoordinatorPartition)),
        )
    )
    now = _Coordinators(view.newest(GroupCoordinator), view.newest(CoordinatorPartition))
    for broker in now.unready:
        last, partitions = earlier.state(broker), now.partitions.get(broker, {})
        listed = f"{counted(len(partitions), 'partition')} of " if partitions else ""
        yield Observed(
            kind="coordinator",
            parties=(f"broker/{broker}",),
            what=f"start of {listed}the group coordinator of broker {broker}",
            now=now.state(broker),
            sample=before.state(broker),
            snapshot=None if (broker in earlier.partitions) != bool(partitions) else last,
            was_there=last not in {None, _READY},
            unit="state",
            clients_wait=True,
        )


_READY = "ready"


class _Coordinators:
    """What the coordinators of one sample answered."""

    def __init__(self, wholes: Iterable[GroupCoordinator], parts: Iterable[CoordinatorPartition]) -> None:
        self.errors = {row.broker_id: row.error for row in wholes}
        self.partitions: dict[int, dict[int, int]] = {}
        for row in parts:
            self.partitions.setdefault(row.broker_id, {})[row.partition] = row.error

    @property
    def unready(self) -> list[int]:
        return sorted({broker for broker, error in self.errors.items() if error} | self.partitions.keys())

    def state(self, broker: int) -> str | None:
        """Return what a broker answers: of partitions, which ones, so that one that is loaded changes it."""
        if broker not in self.partitions:
            error = self.errors.get(broker)
            return None if error is None else _named(error) if error else _READY
        by_error: dict[int, list[int]] = {}
        for partition, error in sorted(self.partitions[broker].items()):
            by_error.setdefault(error, []).append(partition)
        return "; ".join(f"{_named(error)} for {', '.join(map(str, found))}" for error, found in by_error.items())


def _named(error: int) -> str:
    return COORDINATOR_ERRORS.get(error, f"error {error}")
