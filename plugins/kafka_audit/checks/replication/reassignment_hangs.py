"""KA608."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LISTED, ReassignedState, TopicSetting
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, Reassignment, RegisteredPartition, RegisteredTopic, TopicConfig
from kafka_audit.model.text import counted

_RATE = ".replication.throttled.rate"
_DEFAULT = 5
"""Kafka's number of a setting that nobody made."""


@check(
    code="KA608",
    severity=Severity.MEDIUM,
    needs=(Reassignment, RegisteredTopic, RegisteredPartition, TopicConfig),
    parts=("topics",),
    says={
        Status.FAIL: "{what}",
        Status.PASS: "No reassignment hangs and no throttle is left behind; {moving} partitions are being reassigned",
        Status.UNKNOWN: "Cannot determine whether reassignments hang or throttles are left behind ({error})",
        Status.NOT_APPLICABLE: "Reassignments are not compared: {reason}",
    },
)
def reassignment_hangs(view: ClusterView) -> Iterator[Judgement]:
    """A reassignment does not go on, or its throttle is still there.

    ## Why it matters
    A reassignment that hangs keeps both the old and the new replicas, and no other can be begun for that partition. A throttle
    that was left behind slows down replication for ever: replicas that fall back never catch up, and nobody remembers why.

    ## Fails when
    The same reassignment was under way in the previous audit, and no further replica has joined the ISR since. Suspected where
    the brokers that are to be added are registered: a big partition takes longer than the time between two audits. Or a topic has
    throttled replicas, or a broker a rate for them, and nothing is being reassigned.

    ## Not known when
    Reassignments or settings of topics were not read, or there is no previous snapshot to compare a reassignment with.

    ## Passes only when
    They were read, and none of that is so.

    ## What to do
    First: {repair}.

    See how far new replicas are: `kafka-log-dirs.sh --bootstrap-server <broker>:9092 --describe`, twice. Take a reassignment
    back: `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092 --reassignment-json-file plan.json --cancel`. Take
    throttles away: the same with `--verify`, or delete `leader.replication.throttled.replicas` and
    `follower.replication.throttled.replicas` of the topics with `kafka-configs.sh`.

    ## References
    KIP-455 (reassignments by API), KIP-73 (replication quotas).
    """
    moving = view.differences.of(ReassignedState)
    hanging = [row for row in moving if row.repeated]
    for row in hanging:
        confidence = Confidence.MEASURED if row.unregistered else Confidence.SUSPECTED
        resource = f"topic/{row.topic}/partition/{row.partition}"
        yield view.judge("KA608", resource, Status.FAIL, _evidence(row), confidence=confidence)
    unknown = _unknown(view, len(moving))
    places = _throttled(view)
    if unknown:
        yield view.judge("KA608", "cluster", Status.UNKNOWN, unknown, moving=len(moving))
    elif hanging:
        return
    elif places and not moving:
        what = f"A throttle is left behind on {places}, and nothing is being reassigned"
        repair = "run the verification of that plan once more, which takes the throttle away"
        yield view.judge("KA608", "cluster", Status.FAIL, moving=0, what=what, repair=repair)
    else:
        yield view.judge("KA608", "cluster", Status.PASS, moving=len(moving))


def _evidence(row: ReassignedState) -> dict[str, object]:
    adding, removing, isr = (", ".join(map(str, ids or ())) or "none" for ids in (row.adding, row.removing, row.isr))
    dead = ", ".join(f"broker {broker}" for broker in row.unregistered)
    doubt = f"not registered: {dead}" if dead else "that a big partition is still being copied is not ruled out"
    return {
        "what": f"The reassignment of {row.topic}-{row.partition} has not gone on since the previous audit: adding {adding}, "
        f"removing {removing}, in sync {isr}; {doubt}",
        "adding": row.adding,
        "removing": row.removing,
        "dead": row.unregistered,
        "repair": f"start {dead}, or take the reassignment back"
        if dead
        else "see whether the new replicas grow, and whether their brokers reach the leader",
    }


def _unknown(view: ClusterView, moving: int) -> dict[str, str]:
    """Return error and needs of what keeps the cluster from passing; empty where nothing does."""
    asked = [read for read in view.last_reads if read.operation == "ListPartitionReassignments"]
    if view.kraft and not any(read.outcome == "answered" for read in asked):
        error = max((read.error for read in asked if read.error), default="nobody was asked")
        needs = max((read.needs for read in asked if read.needs), default="Describe on Cluster")
        return {"error": f"reassignments were not read: {error}", "needs": needs}
    gap = view.min_isr_gap
    if gap is not None and gap.topics_unread:
        return {"error": gap.error, "needs": gap.needs}
    if moving and view.previous_gap is not None:
        return {"error": f"{moving} under way, and no earlier audit to tell for how long", "needs": "another audit"}
    return {}


def _throttled(view: ClusterView) -> str:
    """Return which topics and brokers have throttles, for a sentence; nothing where none has."""
    settings = [row for row in view.differences.of(TopicSetting) if row.key.endswith("throttled.replicas") and row.filled]
    topics = sorted({topic for row in settings for topic in row.first})
    # Leaders and followers are throttled by a key each, of the same topics as a rule; of many, only the first are known by name.
    number = max([row.filled for row in settings if row.filled > LISTED], default=len(topics))
    # A rate is no key that brokers have by default; its value is hidden.
    rates = {row.broker_id for row in view.of(BrokerConfig) if row.key.endswith(_RATE) and row.source != _DEFAULT}
    places = [f"{counted(number, 'topic')} ({', '.join(topics[:LISTED])})"] if topics else []
    return " and on ".join([*places, *([", ".join(f"broker {broker}" for broker in sorted(rates))] if rates else [])])
