"""KA205."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredPartition, Registry


@sql_check(
    code="KA205",
    severity=Severity.CRITICAL,
    needs=(Registry, RegisteredPartition),
    says={
        Status.FAIL: "Brokers will refuse the controller: the state of {partitions} was written with controller epoch {written},"
        " above the {epoch} of /controller_epoch",
        Status.PASS: "No state of {total} partitions is ahead of /controller_epoch ({epoch})",
        Status.UNKNOWN: "Not known: whether states are ahead of /controller_epoch ({error})",
        Status.NOT_APPLICABLE: "No /controller_epoch to compare with: {reason}",
    },
)
def state_ahead_of_controller() -> str:
    """A partition's state was written by a later controller than /controller_epoch knows.

    ## Why it matters
    `/controller_epoch` fell: ZooKeeper was restored in part, or somebody deleted the znode. Brokers have seen the higher epoch
    and answer the present controller with STALE_CONTROLLER_EPOCH; its decisions reach nobody.

    ## Fails when
    The controller epoch in a partition's state is above `/controller_epoch`, and the state was there before that was read: in two
    looks, or by its mzxid. More than ten partitions are told as one finding of the cluster.

    ## Not known when
    ZooKeeper was not read, `/controller_epoch` is absent, or the state was written while the look was taken.

    ## Passes only when
    Every state was read, and none is above `/controller_epoch`.

    ## What to do
    As for KA204: stop changes, find out who wrote to ZooKeeper, and look at what else was rolled back. Only then let the
    controller move until `/controller_epoch` is above {written}, which ends the refusals: each
    `zookeeper-shell.sh <zookeeper.connect> delete /controller` raises it by one.

    ## References
    `StaleControllerEpochException`, error 11 STALE_CONTROLLER_EPOCH.
    """
    return """
        WITH ahead AS (
            SELECT *, count_if(settled) OVER (PARTITION BY snapshot_id) AS n FROM state_ahead),
        counted AS (
            SELECT snapshot_id, count(*) AS seen, count_if(settled) AS settled, max(written) AS written FROM state_ahead
            GROUP BY snapshot_id),
        told AS (
            SELECT j.snapshot_id, 'cluster' AS resource,
                   CASE WHEN j.controller_epoch IS NULL THEN 'UNKNOWN' WHEN c.seen IS NULL THEN 'PASS' WHEN c.settled > 10
                       THEN 'FAIL'
                        WHEN c.settled = 0 THEN 'UNKNOWN' END AS status,
                   concat(c.settled, ' partitions') AS partitions, c.written
            FROM judged AS j LEFT JOIN counted AS c ON c.snapshot_id = j.snapshot_id
            UNION ALL
            SELECT snapshot_id, concat('topic/', topic, '/partition/', partition), 'FAIL', concat(topic, '-', partition), written
            FROM ahead WHERE settled AND n <= 10)
        SELECT t.snapshot_id, 'KA205' AS code, t.resource, t.status, CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('partitions', t.partitions, 'written', string(t.written), 'epoch', string(j.controller_epoch),
                   'total', string(coalesce(p.partitions, 0)),
                   'error', CASE WHEN j.controller_epoch IS NULL THEN '/controller_epoch is absent'
                                 WHEN t.status = 'UNKNOWN' THEN 'in motion' END,
                   'needs', 'another audit') AS evidence
        FROM told AS t
        JOIN judged AS j ON j.snapshot_id = t.snapshot_id
        LEFT JOIN partition_count AS p ON p.snapshot_id = t.snapshot_id
        WHERE t.status IS NOT NULL
    """
