from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, BrokerReads
from kafka_audit.differences.tables import LISTED
from kafka_audit.model.tables import LogDirReplica


@check(code="KA504", severity=Severity.MEDIUM)
def future_replica_stuck(view: ClusterView) -> Judgements:
    """A replica that is being moved to another log dir of its broker makes no progress."""
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, reads)
    earlier = {_place(row): row for row in view.earlier(LogDirReplica)}
    for broker in reads.brokers:
        moving = sorted((row for row in view.newest(LogDirReplica) if row.broker_id == broker), key=_place)
        stuck = [row for row in moving if _stands_still(row, earlier.get(_place(row)))]
        evidence: dict[str, object] = {"broker": broker, "who": f"broker {broker}", "count": len(stuck or moving)}
        if not reads.answered(broker):
            status, gap = Status.UNKNOWN, reads.gap(broker)
            evidence |= gap or {"error": "it returned no log dirs", "needs": "an answer to DescribeLogDirs"}
        elif moving and view.previous is None:
            status = Status.NOT_APPLICABLE
            evidence["reason"] = "no previous snapshot"
        elif stuck:
            status, first = Status.FAIL, stuck[0]
            names = tuple(f"{row.topic}-{row.partition}" for row in stuck[:LISTED])
            evidence |= {"partitions": names, "lag": first.offset_lag, "path": first.path}
        else:
            status = Status.PASS
        yield view.judge(f"broker/{broker}", status, evidence)


def _place(row: LogDirReplica) -> tuple[str, int, str, int]:
    return (row.topic, row.partition, row.path, row.broker_id)


def _stands_still(row: LogDirReplica, before: LogDirReplica | None) -> bool:
    return before is not None and row.offset_lag >= before.offset_lag and row.size_bytes <= before.size_bytes
