"""KA206."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic


@sql_check(
    code="KA206",
    severity=Severity.MEDIUM,
    needs=(RegisteredTopic, RegisteredPartition),
    says={
        Status.FAIL: "Leaders flap: the leader epoch of {count} partitions ({partitions}) rose by up to {most} in {minutes}"
        " minutes",
        Status.PASS: "No leader epoch of {total} partitions rose much since the previous snapshot",
        Status.UNKNOWN: "Not known: whether leaders flap ({error})",
        Status.NOT_APPLICABLE: "Leader epochs cannot be compared: {reason}",
    },
)
def leaders_flap() -> str:
    """Partitions are given a leader again and again.

    ## Why it matters
    At each change producers and consumers of the partition stop for a moment and ask for their leader, and followers cut their
    logs. Nobody sees a fault when looking, and everybody has slow clients.

    ## Fails when
    The leader epoch of a partition rose by 20 or more since the previous snapshot, and by more than six an hour. Restarts of all
    brokers raise it by a few.

    ## Not known when
    Topics were not read in either snapshot. Without a previous snapshot it does not apply. Topics created anew are not compared.

    ## Passes only when
    Both snapshots were read, and no epoch rose so much.

    ## What to do
    Broker {broker} has a replica of most of them ({share} of {count}): `grep -iE 'session expired|fenced|Shrinking ISR'
    server.log` there, its ZooKeeper session or way to the KRaft controllers, its pauses, its network.

    ## References
    KIP-101 (leader epochs); metric `LeaderElectionRateAndTimeMs`.
    """
    return """
        WITH timed AS (
            SELECT p.snapshot_id, greatest((i.started_ms - q.started_ms) / 60000, 1) AS minutes
            FROM pair AS p JOIN snapshot_info AS i ON i.snapshot_id = p.snapshot_id
            JOIN snapshot_info AS q ON q.snapshot_id = p.previous_snapshot_id),
        rose AS (
            SELECT p.snapshot_id, p.topic, p.partition, p.leader_epoch - p.previous_epoch AS rise, t.minutes
            FROM partition_pair AS p JOIN timed AS t ON t.snapshot_id = p.snapshot_id
            WHERE p.leader_epoch - p.previous_epoch >= 20 AND (p.leader_epoch - p.previous_epoch) * 10 > t.minutes),
        held AS (
            SELECT r.snapshot_id, replica, count(*) AS n
            FROM rose AS r JOIN registered_partition_at AS z
                ON z.snapshot_id = r.snapshot_id AND z.slot = 'now' AND z.topic = r.topic AND z.partition = r.partition
                LATERAL VIEW explode(z.replicas) e AS replica
            GROUP BY r.snapshot_id, replica),
        worst AS (SELECT snapshot_id, max(struct(n, replica)) AS broker FROM held GROUP BY snapshot_id),
        counted AS (
            SELECT snapshot_id, count(*) AS n, max(rise) AS most, max(minutes) AS minutes,
                   array_sort(collect_list(struct(topic, partition))) AS items
            FROM rose GROUP BY snapshot_id)
        SELECT j.snapshot_id, 'KA206' AS code, 'cluster' AS resource, if(c.snapshot_id IS NULL, 'PASS', 'FAIL') AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('count', string(c.n), 'most', string(c.most), 'minutes', string(CAST(round(c.minutes) AS BIGINT)),
                   'partitions', array_join(transform(slice(c.items, 1, 10), i -> concat(i.topic, '-', i.partition)), ', '),
                   'broker', string(w.broker.replica), 'share', string(w.broker.n), 'total', string(coalesce(t.partitions, 0)))
                   AS evidence
        FROM judged AS j
        LEFT JOIN counted AS c ON c.snapshot_id = j.snapshot_id
        LEFT JOIN worst AS w ON w.snapshot_id = j.snapshot_id
        LEFT JOIN partition_count AS t ON t.snapshot_id = j.snapshot_id
        WHERE j.snapshot_id NOT IN (SELECT snapshot_id FROM previous_gap)
        UNION ALL
        SELECT snapshot_id, 'KA206', 'cluster', status, NULL, 'measured', map('error', error, 'needs', needs, 'reason', reason)
        FROM previous_gap
    """
