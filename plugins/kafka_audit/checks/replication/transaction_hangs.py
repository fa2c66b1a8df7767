from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.controller import since_previous
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.answers.broker_reads import BrokerReads
from kafka_audit.differences.tables import InternalTopic
from kafka_audit.model.tables import OldTransaction
from kafka_audit.model.tables.storage import OPEN_FOR_LONG_MS

_READ, _TOPIC = "read_committed offsets", "__transaction_state"
_TWO_PHASE = "transaction.two.phase.commit.enable"
_MINUTE_MS = 60_000


@check(code="KA614", severity=Severity.HIGH, parts=("topics",))
def transaction_hangs(view: ClusterView) -> Judgements:
    """A transaction stays open, and read_committed consumers wait for it."""
    if not any(row.topic == _TOPIC for row in view.differences.of(InternalTopic)):
        yield view.not_applicable("cluster", f"no topic {_TOPIC} was found")
        return
    reads = BrokerReads(view.last_reads, _READ)
    yield from nothing_asked(view, reads)
    earlier = {(row.topic, row.partition, row.stable_offset): row for row in view.earlier(OldTransaction)}
    judged: set[int] = set()
    for row in view.newest(OldTransaction):
        judgement = _judged(view, row, earlier.get((row.topic, row.partition, row.stable_offset)))
        if judgement is not None:
            judged.add(row.broker_id)
            yield judgement
    for broker in reads.brokers:
        evidence = {"broker": broker, "who": f"broker {broker}"}
        gap = reads.gap(broker)
        if gap is not None:
            yield view.judge(f"broker/{broker}", Status.UNKNOWN, {**evidence, **gap})
        elif broker not in judged:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)


def _judged(view: ClusterView, row: OldTransaction, earlier: OldTransaction | None) -> Judgement | None:
    """Judge one transaction beside what the previous audit saw of it; None where nothing says that it stays open."""
    past, waiting = row.older_than_ms > OPEN_FOR_LONG_MS, earlier is not None and earlier.end_offset < row.end_offset
    partition, minutes = f"{row.topic}-{row.partition}", row.older_than_ms // _MINUTE_MS
    resource, evidence = f"topic/{row.topic}/partition/{row.partition}", {"partition": partition, "broker": row.broker_id}
    evidence |= {"topic": row.topic, "number": row.partition, "stable": row.stable_offset, "end": row.end_offset}
    if not past and not waiting:
        return None
    if not waiting and (earlier is None or (since_previous.minutes(view) or 0) < minutes):
        seen = "seen once" if earlier is None else "seen a short time ago, too"
        error = f"{seen}: its first record is older than {minutes} minutes by the producer's time"
        needs = f"another audit, {minutes} minutes after the first that saw it"
        return view.unknown(resource, error, needs, evidence, who=partition)
    confidence = Confidence.MEASURED
    if any(view.settings.get(broker, _TWO_PHASE).value == "true" for broker in view.settings.brokers):
        confidence = Confidence.SUSPECTED
    return view.judge(
        resource,
        Status.FAIL,
        evidence,
        severity=None if past else Severity.MEDIUM,
        confidence=confidence,
        minutes=minutes,
        lasts="never ended" if past else "stays open",
        since=f"it is open for more than {minutes} minutes" if past else "it was open in the previous audit",
    )
