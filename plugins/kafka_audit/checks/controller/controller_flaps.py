"""KA203."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredBroker, RegisteredTopic, Registry


@sql_check(
    code="KA203",
    severity=Severity.HIGH,
    needs=(Registry, RegisteredBroker, RegisteredTopic),
    says={
        Status.FAIL: "The controller flaps: {rise} elections in {minutes} minutes since the previous snapshot (epoch {before}"
        " to {after})",
        Status.PASS: "The controller was elected {rise} times in {minutes} minutes since the previous snapshot (epoch {after})",
        Status.UNKNOWN: "Not known: whether the controller flaps ({error})",
        Status.NOT_APPLICABLE: "Elections of the controller cannot be counted: {reason}",
    },
)
def controller_flaps() -> str:
    """The controller is elected again and again.

    ## Why it matters
    After each election the new controller reads all of ZooKeeper and tells every broker everything. While it does, no leader is
    elected; what has just begun, as a reassignment, starts over.

    ## Fails when
    `/controller_epoch` rose by more than there are brokers, three at least, and by more than one an hour since the previous
    snapshot. A rolling restart moves the controller once a broker at most, so it does not count; nor does the one election more
    by which a KRaft controller takes over in a migration.

    ## Not known when
    ZooKeeper was not read in either snapshot, or `/controller_epoch` is absent. Without a previous snapshot it does not apply,
    nor in KRaft.

    ## Passes only when
    Both snapshots tell the epoch, and it rose by less, or fell (KA204).

    ## What to do
    A controller loses its session where it stands still longer than `zookeeper.session.timeout.ms`: look for pauses in the
    garbage collector's log, a full processor, or a slow ZooKeeper at the time of each election: `grep -iE 'session
    expired|Resign|startup' controller.log server.log` on all brokers.

    ## References
    `kafka.controller.KafkaController`; metric `ActiveControllerCount`.
    """
    return """
        WITH told AS (
            SELECT j.snapshot_id, j.controller_epoch AS after, j.previous_controller_epoch AS before,
                   if(j.controller_epoch < j.previous_controller_epoch, 0, j.controller_epoch - j.previous_controller_epoch)
                       AS rise,
                   greatest((i.started_ms - q.started_ms) / 60000, 1) AS minutes, greatest(coalesce(b.n, 0), 3) AS brokers,
                   if(j.controller_id IS NULL, 1, 0) AS taken_over
            FROM judged AS j
            JOIN snapshot_info AS i ON i.snapshot_id = j.snapshot_id
            JOIN snapshot_info AS q ON q.snapshot_id = j.previous_snapshot_id
            LEFT JOIN (SELECT snapshot_id, count(*) AS n FROM registered_broker_at WHERE slot = 'now' GROUP BY snapshot_id) AS b
                ON b.snapshot_id = j.snapshot_id
            WHERE j.snapshot_id NOT IN (SELECT snapshot_id FROM previous_gap))
        SELECT snapshot_id, 'KA203' AS code, 'cluster' AS resource,
               CASE WHEN rise IS NULL THEN 'UNKNOWN' WHEN rise > brokers + taken_over
                   AND rise * 60 > minutes THEN 'FAIL' ELSE 'PASS' END AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('rise', string(rise), 'minutes', string(CAST(round(minutes) AS BIGINT)), 'before', string(before),
                   'after', string(after), 'error', '/controller_epoch is absent', 'needs',
                       'a /controller_epoch in both snapshots')
                   AS evidence
        FROM told
        UNION ALL
        SELECT snapshot_id, 'KA203', 'cluster', status, NULL, 'measured', map('error', error, 'needs', needs, 'reason', reason)
        FROM previous_gap
    """
