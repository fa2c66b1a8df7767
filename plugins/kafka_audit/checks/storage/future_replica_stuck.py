"""KA504."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import LogDirReplica


@sql_check(
    code="KA504",
    severity=Severity.MEDIUM,
    needs=(LogDirReplica,),
    says={
        Status.FAIL: "{count} replicas of broker {broker} have been on their way to another log dir since the previous snapshot "
        "and come no nearer ({partitions}); the first is {lag} offsets behind",
        Status.PASS: "Broker {broker} moves {count} replicas between its log dirs, none of which stands still",
        Status.UNKNOWN: "Not known: whether {who} moves replicas between log dirs without end ({error})",
        Status.NOT_APPLICABLE: "Moves between log dirs cannot be compared: {reason}",
    },
)
def future_replica_stuck() -> str:
    """A replica that is being moved to another log dir of its broker does not get there.

    ## Why it matters
    Until it is there the partition lies on the disk twice, and the old disk is not freed. A copy that is far behind reads all day
    from a disk that serves clients.

    ## Fails when
    The same future replica is in the same dir as in the previous snapshot, has not grown, and is no fewer offsets behind.

    ## Not known when
    DescribeLogDirs was not answered now. Without a previous snapshot it does not apply while a move is under way.

    ## Passes only when
    The broker listed its dirs, and no future replica stands still.

    ## What to do
    See the moves: `kafka-log-dirs.sh --bootstrap-server <broker>:9092 --describe --broker-list {broker}` (`isFuture`). A throttle
    may hold them: `replica.alter.log.dirs.io.max.bytes.per.second` of broker {broker}. Room on the target: `df -h {path}`.
    To give the move up, name the dir where the replica lies now in a plan and run
    `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092 --reassignment-json-file plan.json --execute` with it.

    ## References
    KIP-113 (moving replicas between log dirs).
    """
    return """
        WITH moving AS (
            SELECT n.snapshot_id, n.broker_id, n.path, n.topic, n.partition, n.offset_lag,
                   p.path IS NOT NULL AND n.offset_lag >= p.offset_lag AND n.size_bytes <= p.size_bytes AS stuck
            FROM log_dir_replica_at AS n
            LEFT JOIN log_dir_replica_at AS p ON p.snapshot_id = n.snapshot_id AND p.slot = 'previous'
                AND p.broker_id = n.broker_id AND p.path = n.path AND p.topic = n.topic AND p.partition = n.partition
            WHERE n.slot = 'now'),
        counted AS (
            SELECT snapshot_id, broker_id, count(*) AS n, count_if(stuck) AS stuck,
                   array_sort(collect_list(if(stuck, struct(topic, partition, offset_lag, path), NULL))) AS items
            FROM moving GROUP BY snapshot_id, broker_id),
        told AS (
            SELECT snapshot_id, observer, name, bool_and(outcome = 'failed') AS failed, min(error) AS error, min(needs) AS needs
            FROM read_now WHERE slot = 'now' AND observer LIKE 'broker:%' AND operation IN ('DescribeLogDirs', 'ApiVersions')
            GROUP BY snapshot_id, observer, name),
        answered AS (
            SELECT snapshot_id, observer, bool_or(outcome = 'answered') AS answered, min(error) AS error, min(needs) AS needs
            FROM read_now WHERE slot = 'now' AND operation = 'DescribeLogDirs' GROUP BY snapshot_id, observer)
        SELECT t.snapshot_id, 'KA504' AS code, concat('broker/', t.name) AS resource,
               CASE WHEN t.failed OR NOT coalesce(a.answered, false) THEN 'UNKNOWN'
                    WHEN c.n > 0 AND j.previous_snapshot_id IS NULL THEN 'NOT_APPLICABLE'
                    WHEN c.stuck > 0 THEN 'FAIL' ELSE 'PASS' END AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('broker', t.name, 'who', concat('broker ', t.name), 'count',
                   string(coalesce(if(c.stuck > 0, c.stuck, c.n), 0)), 'partitions',
                   array_join(transform(slice(c.items, 1, 10), i -> concat(i.topic, '-', i.partition)), ', '),
                   'lag', string(get(c.items, 0).offset_lag), 'path', get(c.items, 0).path, 'reason', 'no previous snapshot',
                   'error', coalesce(a.error, t.error, 'it gave no list of log dirs'),
                   'needs', coalesce(a.needs, t.needs, 'an answer to DescribeLogDirs')) AS evidence
        FROM told AS t
        JOIN judged AS j ON j.snapshot_id = t.snapshot_id
        LEFT JOIN answered AS a ON a.snapshot_id = t.snapshot_id AND a.observer = t.observer
        LEFT JOIN counted AS c ON c.snapshot_id = t.snapshot_id AND string(c.broker_id) = t.name
    """
