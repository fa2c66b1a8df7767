from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.answers.broker_reads import LIST_OFFSETS, STORAGE_ERROR, BrokerReads, first_partitions
from kafka_audit.model.tables import LeadershipAnswer, LeadershipAsked


@check(code="KA503", severity=Severity.HIGH)
def replicas_offline(view: ClusterView) -> Judgements:
    """Replicas of a running broker are offline."""
    reads = BrokerReads(view.last_reads, LIST_OFFSETS)
    yield from nothing_asked(view, reads)
    asked = {row.broker_id: row for row in view.newest(LeadershipAsked)}
    for broker in reads.brokers:
        own_answers = [row for row in view.newest(LeadershipAnswer) if row.broker_id == broker]
        offline = {(row.topic, row.partition): row.leader for row in own_answers if row.error == STORAGE_ERROR}
        row, resource = asked.get(broker), f"broker/{broker}"
        evidence: dict[str, object] = {"broker": broker, "who": f"broker {broker}"}
        evidence["listed_offline"] = row.listed_offline if row else 0
        if offline:
            evidence |= {"count": len(offline), "partitions": first_partitions(offline)}
            yield view.judge(resource, Status.FAIL, evidence)
        elif row is None:
            gap = reads.gap(broker)
            reason = {"reason": "it leads no partition, and no view lists a replica of it as offline"}
            yield view.judge(resource, Status.UNKNOWN if gap else Status.NOT_APPLICABLE, {**evidence, **(gap or reason)})
        elif row.listed_offline:
            evidence |= {"error": f"brokers list {row.listed_offline} of its replicas as offline, but it serves them"}
            evidence["needs"] = "another audit: it has just restarted, or its controller has not accepted it (KA105)"
            yield view.judge(resource, Status.UNKNOWN, evidence)
        else:
            yield view.judge(resource, Status.PASS, evidence, asked=row.as_leader + row.as_former)
