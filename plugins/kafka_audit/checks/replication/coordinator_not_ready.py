from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE, nothing_asked
from kafka_audit.cluster.answers.broker_reads import BrokerReads
from kafka_audit.differences.tables import InternalTopic
from kafka_audit.model.tables import GroupCoordinator

_TOPIC, _READ = "__consumer_offsets", "ListGroups"
_ERRORS = {14: "COORDINATOR_LOAD_IN_PROGRESS", 15: "COORDINATOR_NOT_AVAILABLE", 16: "NOT_COORDINATOR"}


@check(code="KA615", severity=Severity.HIGH, parts=("topics",))
def coordinator_not_ready(view: ClusterView) -> Judgements:
    """The group coordinator of a broker does not run, or loads its partitions without end."""
    if not any(row.topic == _TOPIC for row in view.differences.of(InternalTopic)):
        yield view.not_applicable("cluster", f"no topic {_TOPIC} was found")
        return
    reads = BrokerReads(view.last_reads, _READ)
    yield from nothing_asked(view, reads)
    now, before, earlier = (
        {row.broker_id: row.error for row in rows}
        for rows in (view.newest(GroupCoordinator), view.before(GroupCoordinator), view.earlier(GroupCoordinator))
    )
    for broker in reads.brokers:
        resource, evidence = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        code = now.get(broker)
        if code is None:
            gap = reads.gap(broker) or {"error": "it was not asked", "needs": f"an answer of broker {broker} to ListGroups"}
            yield view.judge(resource, Status.UNKNOWN, {**evidence, **gap})
        elif not code:
            yield view.judge(resource, Status.PASS, evidence)
        elif not before.get(broker):
            yield view.judge(resource, Status.UNKNOWN, evidence | ONCE)
        else:
            lasting = bool(earlier.get(broker))
            evidence |= {"code": code, "error": _ERRORS.get(code, "an error")}
            evidence["since"] = "as in the previous audit" if lasting else "first seen in this audit"
            yield view.judge(resource, Status.FAIL, evidence, severity=None if lasting else Severity.MEDIUM)
