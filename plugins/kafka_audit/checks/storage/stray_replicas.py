from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import MOVING, NO_LOG_DIRS, nothing_asked
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, BrokerReads
from kafka_audit.model.tables import LogDir


@check(code="KA507", severity=Severity.LOW, parts=("topics",))
def stray_replicas(view: ClusterView) -> Judgements:
    """A broker has replicas in its log dirs that are not assigned to it."""
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, reads)
    confidence = Confidence.SUSPECTED if view.kraft and _may_hide(view) else Confidence.MEASURED
    for broker in reads.brokers:
        resource, facts = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        dirs = [row for row in view.newest(LogDir) if row.broker_id == broker]
        before = [row for row in view.before(LogDir) if row.broker_id == broker]
        if not dirs or any(row.error for row in dirs):
            offline = {"error": "a log dir is offline", "needs": "all log dirs of the broker online (KA501)"}
            gap = reads.gap(broker) or (offline if dirs else NO_LOG_DIRS)
            yield view.judge(resource, Status.UNKNOWN, {**facts, **gap})
            continue
        held, assigned = sum(row.replicas for row in dirs), view.partitions.held_by(broker)
        evidence = facts | {"held": held, "assigned": assigned, "stray": held - assigned}
        if held <= assigned:
            yield view.judge(resource, Status.PASS, evidence)
        elif not view.steady or sum(row.replicas for row in before) != held:
            yield view.judge(resource, Status.UNKNOWN, facts | MOVING)
        else:
            yield view.judge(resource, Status.FAIL, evidence, confidence=confidence)


def _may_hide(view: ClusterView) -> bool:
    """Return whether a broker may have topics that the auditor may not describe."""
    between = view.inter_broker
    return any(between.authorizer(broker).state != "unset" for broker in between.brokers)
