"""KA504."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, BrokerReads
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LISTED
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import LogDirReplica


@check(
    code="KA504",
    severity=Severity.MEDIUM,
    says={
        Status.FAIL: "Moves between log dirs of broker {broker} are stuck; no progress since the "
        "previous snapshot ({partitions}, {count} in total), the first is {lag} offsets behind",
        Status.PASS: "Broker {broker} moves {count:# replica|# replicas} between its log dirs, and none is stuck",
        Status.UNKNOWN: "Cannot determine whether moves of replicas between log dirs of {who} are stuck ({error})",
        Status.NOT_APPLICABLE: "Moves between log dirs cannot be compared: {reason}",
    },
)
def future_replica_stuck(view: ClusterView) -> Iterator[Judgement]:
    """A replica that is being moved to another log dir of its broker makes no progress.

    ## Why it matters
    Until the move is complete, the partition uses disk space twice, and the old disk is not freed. A copy that lags far behind
    continuously reads from a disk that serves clients.

    ## Fails when
    The same future replica is in the same log dir as in the previous snapshot, has not grown, and its lag has not decreased.

    ## Not known when
    DescribeLogDirs was not answered. Without a previous snapshot the check does not apply while a move is in progress.

    ## Passes only when
    The broker listed its log dirs, and no future replica is stuck.

    ## What to do
    See the moves: `kafka-log-dirs.sh --bootstrap-server BROKER:9092 --describe --broker-list {broker}` (`isFuture`). A throttle
    can hold them: `replica.alter.log.dirs.io.max.bytes.per.second` of broker {broker}. Free space on the target: `df -h {path}`.
    To cancel the move, name the current dir of the replica in a plan and run `kafka-reassign-partitions.sh --bootstrap-server
    BROKER:9092 --reassignment-json-file plan.json --execute` with it: nothing is copied.

    ## References
    KIP-113 (moving replicas between log dirs).
    """
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, "KA504", reads)
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
        yield view.judge("KA504", f"broker/{broker}", status, evidence)


def _place(row: LogDirReplica) -> tuple[str, int, str, int]:
    return (row.topic, row.partition, row.path, row.broker_id)


def _stands_still(row: LogDirReplica, before: LogDirReplica | None) -> bool:
    return before is not None and row.offset_lag >= before.offset_lag and row.size_bytes <= before.size_bytes
