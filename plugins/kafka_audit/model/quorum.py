"""What is normal: how far nodes of the quorum are behind, how many elections, how many notifications in ZooKeeper. Pure."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from kafka_audit.model.tables import QuorumReplica, QuorumView

NOTICES: Mapping[str, int] = MappingProxyType(
    {"/isr_change_notification": 10, "/log_dir_event_notification": 10, "/config/changes": 1000}
)
"""Notification znodes with the number that counts as unprocessed: the controller deletes the first two kinds at once, the
last stay 15 minutes."""


REQUESTS = ("/admin/preferred_replica_election", "/admin/reassign_partitions")
"""What tools ask the controller of ZooKeeper for, besides the topics below /admin/delete_topics."""

LATE_MS = 10_000
"""From here on a replica is behind: a controller fences a broker that it has not heard for 9 s (broker.session.timeout.ms), and
voters without contact for 2 s start an election. A working voter was caught up within half a second."""

_TERMS = 2
"""How many epochs an election takes at most, where votes are split."""

_FEWEST_VOTERS = 3


def most_elections(voters: int) -> int:
    """Return by how much the epoch may rise if each voter is restarted once: a rolling restart moves the leader that often."""
    return _TERMS * max(voters, _FEWEST_VOTERS)


def majority(voters: int) -> int:
    """Return how many of that many voters are a majority."""
    return voters // 2 + 1


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


def unapplied(
    applied: Mapping[int, int], replicas: Mapping[int, QuorumReplica], before: int | None, now: int | None
) -> frozenset[int]:
    """Return the brokers that have fetched what was committed a while ago, and have not applied it, although the log moves.

    Args:
        applied: the offset of the newest record that each broker has applied now, as ApiVersions gives it:
            `finalized_features_epoch` (`KRaftMetadataCache.features`).
        replicas: what the leader knows of the brokers. One that fetches nothing applies nothing either, and lags.
        before: the high watermark at that time, which is the offset of the next record; None if it is unknown.
        now: the high watermark now. Where it stands still, the last record may be one that leaves nothing to apply.
    """
    if before is None or now is None or now <= before:
        return frozenset()
    ends = {broker: row.log_end_offset for broker, row in replicas.items() if row.log_end_offset is not None}
    return frozenset(broker for broker, offset in applied.items() if offset + 1 < min(before, ends.get(broker, before)))
