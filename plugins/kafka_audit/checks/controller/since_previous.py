"""What the checks against the previous snapshot have in common: the gap that lets nothing be compared, the time in between."""

from kafka_audit.checks import ClusterView, Judgement
from kafka_audit.model.tables import SnapshotInfo

_MS = 60_000


def gap_judgement(view: ClusterView) -> Judgement | None:
    """Return the one judgement of a check where the previous snapshot cannot be compared with; None where it can."""
    gap = view.previous_gap
    if gap is None:
        return None
    reported = {"who": "any broker", "error": gap.error, "needs": gap.needs, "reason": gap.reason}
    return view.judge("cluster", gap.status, reported)


def minutes(view: ClusterView) -> float | None:
    """Return how long before this snapshot the previous one began, in minutes, at least one; None without a previous one."""
    earlier = next(iter(view.previous.of(SnapshotInfo)), None) if view.previous is not None else None
    if view.info is None or earlier is None:
        return None
    return max((view.info.started_ms - earlier.started_ms) / _MS, 1.0)


def rounded(number: float | None) -> int | None:
    """Return a time in whole minutes, half a minute up."""
    return None if number is None else int(number + 0.5)


def partition_resource(name: str) -> str:
    """Return the resource of a partition by Kafka's name of it: `orders-0` is `topic/orders/partition/0`."""
    topic, _, number = name.rpartition("-")
    return f"topic/{topic}/partition/{number}"
