"""KA204."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic, Registry


@sql_check(
    code="KA204",
    severity=Severity.CRITICAL,
    needs=(Registry, RegisteredTopic, RegisteredPartition),
    says={
        Status.FAIL: "Brokers will refuse the controller: {what} fell from {before} to {after} since the previous snapshot",
        Status.PASS: "Since the previous snapshot the controller epoch did not fall (from {before} to {after})",
        Status.UNKNOWN: "Not known: whether epochs fell ({error})",
        Status.NOT_APPLICABLE: "Epochs cannot be compared: {reason}",
    },
)
def epoch_went_back() -> str:
    """A controller epoch or leader epoch is lower than in the previous snapshot.

    ## Why it matters
    Epochs only rise. Where one fell, ZooKeeper was restored from a backup, rolled back or edited. Brokers keep the higher epoch
    in memory and refuse the controller's requests as stale; logs may be truncated against the wrong leader.

    ## Fails when
    `/controller_epoch`, or the leader epoch of a partition, is below the previous snapshot's value, in every look of this
    snapshot. Partitions are compared by topic id, before Kafka 2.8 by the znode's czxid: a topic created anew starts at 0.

    ## Not known when
    ZooKeeper was not read in either snapshot. Without a previous snapshot it does not apply.

    ## Passes only when
    Both snapshots read ZooKeeper and nothing fell. More than ten partitions are told as one finding of the cluster.

    ## What to do
    Stop changes: no reassignment, no topic deletion, no broker restart. Find out who wrote to ZooKeeper, and when:
    `zookeeper-shell.sh <zookeeper.connect> stat /controller_epoch` (`mtime`). With a newer ZooKeeper backup: stop all brokers,
    restore it, start them. Without one: a restarted broker takes the lower epochs and may cut its log back to them, so compare
    `leader-epoch-checkpoint` of the replicas first, then restart brokers one by one.

    ## References
    KIP-101 and KIP-320 (leader epochs); `StaleControllerEpochException`.
    """
    return """
        WITH fell AS (
            SELECT *, count(*) OVER (PARTITION BY snapshot_id) AS n FROM partition_pair
            WHERE leader_epoch < previous_epoch AND coalesce(before_epoch, leader_epoch) < previous_epoch),
        counted AS (SELECT snapshot_id, count(*) AS n, min(struct(topic, partition, previous_epoch, leader_epoch)) AS first
                    FROM fell GROUP BY snapshot_id),
        cluster AS (
            SELECT j.snapshot_id, j.previous_controller_epoch AS before, j.controller_epoch AS after, c.n, c.first,
                   coalesce(c.n > 10, false) AS many,
                   coalesce(j.controller_epoch < j.previous_controller_epoch AND
                            coalesce(j.before_controller_epoch, j.controller_epoch) < j.previous_controller_epoch, false) AS fell
            FROM judged AS j LEFT JOIN counted AS c ON c.snapshot_id = j.snapshot_id
            WHERE j.snapshot_id NOT IN (SELECT snapshot_id FROM previous_gap)),
        told AS (
            SELECT snapshot_id, 'cluster' AS resource,
                   CASE WHEN fell OR many THEN 'FAIL' WHEN before IS NULL OR after IS NULL THEN 'UNKNOWN' ELSE 'PASS' END
                       AS status,
                   CASE WHEN many THEN concat(if(fell, 'the controller epoch and ', ''), 'the leader epochs of ', n,
                                              ' partitions (first ', first.topic, '-', first.partition, ')')
                        ELSE 'the controller epoch' END AS what,
                   string(if(many AND NOT fell, first.previous_epoch, before)) AS before,
                   string(if(many AND NOT fell, first.leader_epoch, after)) AS after,
                   if(before IS NULL OR after IS NULL, '/controller_epoch is absent', NULL) AS error,
                       'a /controller_epoch in both snapshots' AS needs, NULL AS reason
            FROM cluster
            UNION ALL
            SELECT snapshot_id, concat('topic/', topic, '/partition/', partition), 'FAIL',
                   concat('the leader epoch of ', topic, '-', partition), string(previous_epoch), string(leader_epoch), NULL,
                       NULL, NULL
            FROM fell WHERE n <= 10
            UNION ALL
            SELECT snapshot_id, 'cluster', status, NULL, NULL, NULL, error, needs, reason FROM previous_gap)
        SELECT snapshot_id, 'KA204' AS code, resource, status, CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('what', what, 'before', before, 'after', after, 'error', error, 'needs', needs, 'reason', reason) AS evidence
        FROM told
    """
