from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import MOVING, nothing_asked
from kafka_audit.cluster.answers.broker_reads import DENIALS, LIST_OFFSETS, BrokerReads, denies, first_partitions
from kafka_audit.faults.facts import facts_of
from kafka_audit.model.tables import LeadershipAnswer, LeadershipAsked


@check(code="KA104", severity=Severity.CRITICAL)
def leader_denies(view: ClusterView) -> Judgements:
    """The registered leader of a partition rejects requests for it."""
    reads = BrokerReads(view.last_reads, LIST_OFFSETS)
    yield from nothing_asked(view, reads)
    asked = {row.broker_id: row for row in view.newest(LeadershipAsked)}
    denied, once = facts_of(view).edges.denied, {row.broker_id for row in view.newest(LeadershipAnswer) if denies(row)}
    for broker in reads.brokers:
        evidence, resource = {"broker": broker, "who": f"broker {broker}"}, f"broker/{broker}"
        if twice := denied.get(broker):
            errors = tuple(f"{code} {DENIALS[code]}" for code in sorted(set(twice.values())))
            failure = evidence | {"count": len(twice), "partitions": first_partitions(twice), "errors": errors}
            yield view.judge(resource, Status.FAIL, failure)
        elif broker in once:
            yield view.judge(resource, Status.UNKNOWN, evidence | MOVING)
        elif broker in asked:
            yield view.judge(resource, Status.PASS, evidence, led=asked[broker].as_leader)
        else:
            gap, reason = reads.gap(broker), {"reason": "it leads no partition, and no view lists a replica of it as offline"}
            yield view.judge(resource, Status.UNKNOWN if gap else Status.NOT_APPLICABLE, {**evidence, **(gap or reason)})
