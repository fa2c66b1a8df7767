"""KA207."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic, Registry


@sql_check(
    code="KA207",
    severity=Severity.HIGH,
    needs=(Registry, RegisteredTopic, RegisteredPartition),
    says={
        Status.FAIL: "{count} partitions have a leader that was elected unclean and has not recovered ({partitions}): records"
        " are lost",
        Status.PASS: "No leader of {total} partitions is recovering from an unclean election",
        Status.UNKNOWN: "Not known: whether leaders recover from unclean elections ({error})",
        Status.NOT_APPLICABLE: "Recovery of leaders is told by ZooKeeper alone: {reason}",
    },
)
def leader_recovering() -> str:
    """A leader that was elected unclean has not recovered.

    ## Why it matters
    The controller made a replica leader that was not in sync. What the replicas in sync had, and it had not, is gone; consumers
    may see offsets again with other records. As long as the leader does not say that it has recovered, no other is elected
    cleanly.

    ## Fails when
    `leader_recovery_state` in a partition's `state` is RECOVERING in two looks, unchanged in between. Kafka 3.2 and later write
    it.

    ## Not known when
    Topics were not read, or it was seen once: a leader recovers within moments. In KRaft no API of brokers tells.

    ## Passes only when
    No state says so. Before Kafka 3.2 none ever does: then it passes with what there is.

    ## What to do
    Find out when and why: `grep -i unclean controller.log state-change.log`, and who set `unclean.leader.election.enable`
    (KA704). Compare what consumers of {partitions} have processed with what is there now; replicas that come back cut their logs
    to the new leader's, so copy a former leader's log folder before it starts, if the records matter.

    ## References
    KIP-704 (a leader is told that it must recover).
    """
    return """
        WITH seen AS (
            SELECT n.snapshot_id, n.topic, n.partition, j.steady AND coalesce(b.state_mzxid = n.state_mzxid, false) AS settled
            FROM registered_partition_at AS n
            JOIN judged AS j ON j.snapshot_id = n.snapshot_id
            LEFT JOIN registered_partition_at AS b ON b.snapshot_id = n.snapshot_id AND b.slot = 'before' AND b.topic = n.topic
                AND b.partition = n.partition AND b.leader_recovery_state = 1
            WHERE n.slot = 'now' AND n.leader_recovery_state = 1),
        counted AS (
            SELECT snapshot_id, bool_or(settled) AS settled, count(*) AS n, count_if(settled) AS lasting,
                   array_sort(collect_list(if(settled, struct(topic, partition), NULL))) AS items
            FROM seen GROUP BY snapshot_id)
        SELECT j.snapshot_id, 'KA207' AS code, 'cluster' AS resource,
               CASE WHEN c.snapshot_id IS NULL THEN 'PASS' WHEN c.settled THEN 'FAIL' ELSE 'UNKNOWN' END AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('count', string(c.lasting), 'total', string(coalesce(t.partitions, 0)),
                   'partitions', array_join(transform(slice(c.items, 1, 10), i -> concat(i.topic, '-', i.partition)), ', '),
                   'error', concat(c.n, ' partitions in one look'), 'needs', 'another audit') AS evidence
        FROM judged AS j
        LEFT JOIN counted AS c ON c.snapshot_id = j.snapshot_id
        LEFT JOIN partition_count AS t ON t.snapshot_id = j.snapshot_id
    """
