from dataclasses import dataclass

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.on_its_way import standing, under_way
from kafka_audit.cluster.throttles import throttle_rates, throttled_topics
from kafka_audit.differences.tables import LISTED, ReassignedState
from kafka_audit.model.finding import Resource
from kafka_audit.model.text import brokers, counted, listing
from kafka_audit.progress.copies import THROTTLE
from kafka_audit.progress.rows import progress_of

_ASKED = "zookeeper /admin/reassign_partitions"


@check(code="KA608", severity=Severity.MEDIUM, parts=("topics",))
def reassignment_hangs(view: ClusterView) -> Judgements:
    """A reassignment stands still, or its throttle is still set."""
    moving = {f"topic/{row.topic}/partition/{row.partition}": row for row in view.differences.of(ReassignedState)}
    rows = progress_of(view).of_kind("reassignment")
    yield from standing(view, rows, lambda row: _evidence(moving[row.parties[0]]))
    unknown, throttle = _unknown(view), _throttled(view)
    if unknown:
        yield view.judge("cluster", Status.UNKNOWN, unknown, moving=len(moving))
    elif rows:
        are = "is" if len(moving) == 1 else "are"
        yield from under_way(view, rows, f"{counted(len(moving), 'partition')} {are} being reassigned", moving=len(moving))
    elif throttle is not None:
        held = _held_back(view)
        what = f"A replication throttle is still set on {throttle.places}, but no partition is being reassigned"
        if held:
            what = f"A replication throttle that was left holds back {brokers(held)}"
        severity = Severity.HIGH if held else None if throttle.slows else Severity.LOW
        reported = {
            "moving": 0,
            "what": what,
            "topics": throttle.topics,
            "brokers": throttle.brokers or None,
            "held": held or None,
        }
        reported |= {"repair": "remove the throttle, which loses nothing", "advice": "throttle", **throttle.command}
        yield view.judge("cluster", Status.FAIL, reported, severity=severity)
    else:
        yield view.judge("cluster", Status.PASS, moving=0)


def _evidence(row: ReassignedState) -> dict[str, object]:
    dead = ", ".join(f"broker {broker}" for broker in row.unregistered)
    return {
        "adding": row.adding,
        "removing": row.removing,
        "isr": row.isr,
        "dead": row.unregistered,
        "advice": "copies",
        "repair": f"start {dead}, or cancel the reassignment"
        if dead
        else "check that the new replicas grow and that their brokers reach the leader",
    }


def _unknown(view: ClusterView) -> dict[str, str]:
    """Return error and needs of what keeps the cluster from passing; empty where nothing does."""
    asked = [read for read in view.last_reads if read.operation == "ListPartitionReassignments"]
    if view.kraft and not any(read.outcome == "answered" for read in asked):
        error = max((read.error for read in asked if read.error), default="no broker was read")
        needs = max((read.needs for read in asked if read.needs), default="Describe on Cluster")
        return {"error": f"reassignments were not read: {error}", "needs": needs}
    for read in view.last_reads:
        if read.operation == _ASKED and read.outcome == "failed":
            return {"error": f"reassignments were not read: {read.error}", "needs": read.needs or "read on that znode"}
    gap = view.min_isr_gap
    if gap is not None and gap.topics_unread:
        return {"error": gap.error, "needs": gap.needs}
    return {}


@dataclass(frozen=True, kw_only=True)
class _Throttle:
    """A throttle that is set: `places` for a sentence, topics with throttled replicas, and brokers that have a rate."""

    places: str
    topics: tuple[str, ...]
    brokers: tuple[int, ...]
    slows: bool  # it may slow down something: rates do it
    command: dict[str, object]  # the first topic, and the keys to delete there


def _throttled(view: ClusterView) -> _Throttle | None:
    """Return the throttle that is set, None where no topic has throttled replicas: a rate alone does not throttle."""
    settings = throttled_topics(view)
    if not settings:
        return None
    topics = sorted({topic for row in settings for topic in row.first})
    # Leaders and followers are throttled by a key each, of the same topics as a rule; of many, only the first are known by name.
    number = max([row.filled for row in settings if row.filled > LISTED], default=len(topics))
    rates = {row.broker_id for row in throttle_rates(view)}
    place = f"{counted(number, 'topic')} ({', '.join(topics[:LISTED])})"
    if rates:
        place = f"{place}, with a rate at {listing(f'broker {broker}' for broker in sorted(rates))}"
    slows = bool(rates) or not view.settings.answers.keys() >= view.brokers.keys()
    keys = ",".join(sorted(row.key for row in settings if topics[0] in row.first))
    return _Throttle(
        places=place,
        topics=tuple(topics[:LISTED]),
        brokers=tuple(sorted(rates)),
        slows=slows,
        command={"topic": topics[0], "keys": keys},
    )


def _held_back(view: ClusterView) -> list[int]:
    """Return the brokers that catch up behind a throttle for longer than a copy ordinarily rests."""
    rows = progress_of(view).of_kind("catch_up")
    late = [row for row in rows if row.waits_for == THROTTLE and row.minutes > row.ordinary_minutes]
    return sorted({broker for row in late if (broker := Resource.of(row.parties[0]).broker) is not None})
