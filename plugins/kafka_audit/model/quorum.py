"""How far each replica of the metadata log is behind, by the leader's own clock. Pure."""

from collections.abc import Iterable, Mapping

from kafka_audit.model.tables import QuorumReplica, QuorumView

LATE_MS = 10_000
"""From here on a replica is behind: a controller fences a broker that it has not heard for 9 s (broker.session.timeout.ms), and
voters without contact for 2 s start an election. A working voter was caught up within half a second."""


def newest_view(views: Iterable[QuorumView]) -> QuorumView | None:
    """Return the newest word of a leader: the highest epoch, and there the furthest; None where no leader is named."""
    named = (view for view in views if view.leader_id >= 0 and view.leader_epoch is not None)
    return max(named, key=lambda view: (view.leader_epoch or 0, view.high_watermark or 0, view.observer), default=None)


def behind_ms(replicas: Iterable[QuorumReplica]) -> Mapping[int, int | None]:
    """Return for how long each replica of one answer has not been caught up; None where it never was under this leader.

    Empty where the answer has no times (below version 1 of DescribeQuorum).
    """
    rows = tuple(replicas)
    clock = max((row.last_caught_up_ms for row in rows if row.last_caught_up_ms is not None), default=None)
    if clock is None:
        return {}
    return {row.replica_id: None if row.last_caught_up_ms is None else clock - row.last_caught_up_ms for row in rows}


def late(replicas: Iterable[QuorumReplica]) -> frozenset[int]:
    """Return the replicas of one answer that are behind."""
    return frozenset(number for number, behind in behind_ms(replicas).items() if behind is None or behind > LATE_MS)
