"""KA208."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic


@sql_check(
    code="KA208",
    severity=Severity.INFO,
    needs=(RegisteredTopic, RegisteredPartition),
    says={
        Status.FAIL: "Broker {broker} no longer leads {moved} of the {led} partitions that it led in the previous snapshot "
        "({partitions}); they are led by {now}",
        Status.PASS: "Broker {broker} still leads all {led} partitions that it led in the previous snapshot",
        Status.UNKNOWN: "Not known: whether leaders moved away from {who} ({error})",
        Status.NOT_APPLICABLE: "Leaders cannot be compared: {reason}",
    },
)
def leaders_moved() -> str:
    """Leaders moved away from a broker since the previous snapshot.

    ## Why it matters
    Leaders move for a reason: a restart, a dead disk, a session that expired, a reassignment. A producer that does not refresh
    its metadata stays with the old leader (KA506 asks that broker).

    ## Fails when
    A partition that the broker led in the previous snapshot has another leader, or none, now. MEDIUM above the share
    `limits.leader_moves` of what it led, else INFO: one move is news, no fault. Topics created anew are not compared.

    ## Not known when
    ZooKeeper was not read in either snapshot. Without a previous snapshot it does not apply.

    ## Passes only when
    Both snapshots read ZooKeeper, and the broker leads all that it led.

    ## What to do
    Read why, at the time between the two snapshots: `grep -iE 'offline|Broker failure' controller.log state-change.log` on the
    controller's host, `grep -iE 'log dir|shut down|Session expired' server.log` on that of broker {broker}. Once it is back and
    in every ISR (`kafka-topics.sh --bootstrap-server <broker>:9092 --describe --under-replicated-partitions` lists nothing), move
    the leaders back:
    `kafka-leader-election.sh --bootstrap-server <broker>:9092 --election-type preferred --all-topic-partitions`.

    ## References
    KIP-112 and KIP-113 (disk failure); `auto.leader.rebalance.enable`.
    """
    return """
        WITH moved AS (
            SELECT snapshot_id, previous_leader AS broker_id, count(*) AS led, count_if(leader IS DISTINCT
                FROM previous_leader) AS moved,
                   array_sort(collect_list(if(leader IS DISTINCT FROM previous_leader, struct(topic, partition), NULL))) AS items,
                   array_sort(collect_set(if(leader IS DISTINCT FROM previous_leader, coalesce(leader, -1), NULL))) AS now
            FROM partition_pair WHERE previous_leader >= 0 GROUP BY snapshot_id, previous_leader),
        told AS (
            SELECT coalesce(b.snapshot_id, m.snapshot_id) AS snapshot_id, coalesce(b.broker_id, m.broker_id) AS broker_id,
                   coalesce(m.led, 0) AS led, coalesce(m.moved, 0) AS moved, m.items, m.now
            FROM (SELECT snapshot_id, broker_id FROM registered_broker_at WHERE slot = 'now') AS b
            FULL OUTER JOIN moved AS m ON m.snapshot_id = b.snapshot_id AND m.broker_id = b.broker_id)
        SELECT t.snapshot_id, 'KA208' AS code, concat('broker/', t.broker_id) AS resource, if(t.moved > 0, 'FAIL', 'PASS')
            AS status,
               if(t.moved > j.leader_moves * t.led, 'MEDIUM', NULL) AS severity, 'measured' AS confidence,
               map('broker', string(t.broker_id), 'moved', string(t.moved), 'led', string(t.led), 'partitions',
                   array_join(transform(slice(t.items, 1, 10), i -> concat(i.topic, '-', i.partition)), ', '),
                   'now', replace(array_join(transform(t.now, i -> concat('broker ', i)), ', '), 'broker -1', 'nobody'))
                       AS evidence
        FROM told AS t JOIN judged AS j ON j.snapshot_id = t.snapshot_id
        WHERE t.snapshot_id NOT IN (SELECT snapshot_id FROM previous_gap)
        UNION ALL
        SELECT snapshot_id, 'KA208', 'cluster', status, NULL, 'measured',
               map('who', 'any broker', 'error', error, 'needs', needs, 'reason', reason)
        FROM previous_gap
    """
