from collections import defaultdict
from collections.abc import Sequence

from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.answers.broker_reads import LIST_OFFSETS, BrokerReads
from kafka_audit.differences.tables import LISTED, FormerLeaderState


@check(code="KA506", severity=Severity.HIGH, parts=("topics",))
def old_leader_keeps_clients(view: ClusterView) -> Judgements:
    """A broker that led partitions returns a storage error for them, and some clients do not refresh their metadata."""
    reads = BrokerReads(view.last_reads, LIST_OFFSETS)
    yield from nothing_asked(view, reads)
    held: dict[int, list[FormerLeaderState]] = defaultdict(list)
    for row in view.differences.of(FormerLeaderState):
        if row.preferred or row.leader_before == row.broker_id:
            held[row.broker_id].append(row)
    for broker in reads.brokers:
        resource = f"broker/{broker}"
        if held[broker]:
            led = sum(row.leader_before == broker for row in held[broker])
            confidence = Confidence.MEASURED if led else Confidence.INFERRED
            evidence = _evidence(sorted(held[broker], key=lambda row: (row.topic, row.partition)), led)
            yield view.judge(resource, Status.FAIL, evidence, confidence=confidence, broker=broker)
        elif gap := reads.gap(broker):
            yield view.judge(resource, Status.UNKNOWN, gap, broker=broker, who=f"broker {broker}")
        elif reads.answered(broker):
            yield view.judge(resource, Status.PASS, broker=broker, who=f"broker {broker}")
        else:
            reason = "it leads no partition, and no view lists a replica of it as offline"
            yield view.not_applicable(resource, reason, broker=broker)


def _evidence(rows: Sequence[FormerLeaderState], led: int) -> dict[str, object]:
    now = sorted({-1 if row.leader is None else row.leader for row in rows})
    return {
        "count": len(rows),
        "led": led,
        "since": f"{'all' if led == len(rows) else led} of them in the previous snapshot" if led else "as their preferred leader",
        "partitions": tuple(f"{row.topic}-{row.partition}" for row in rows[:LISTED]),
        "leaders": tuple(leader for leader in now if leader >= 0) or None,
        "now": ", ".join("no broker" if leader < 0 else f"broker {leader}" for leader in now),
    }
