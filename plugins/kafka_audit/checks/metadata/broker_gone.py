"""KA113."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredBroker, RegisteredPartition


@sql_check(
    code="KA113",
    severity=Severity.HIGH,
    needs=(RegisteredBroker, RegisteredPartition),
    says={
        Status.FAIL: "{subject} gone: {why}; {leaderless} of {replicas} partitions that had a replica there have no leader",
        Status.PASS: "{subject} registered",
        Status.UNKNOWN: "Not known: whether {who} went away ({error})",
        Status.NOT_APPLICABLE: "No registrations to look at: {reason}",
    },
)
def broker_gone() -> str:
    """A broker is registered no more: the previous snapshot, an assignment or the cluster file knows it.

    ## Why it matters
    Its partitions run with one replica less, so the next broker that stops takes them below min.insync.replicas, or offline.
    Those whose only live replica it was have no leader already.

    ## Fails when
    A broker id is in the previous snapshot's registrations, or in the replicas of a partition, and not in `/brokers/ids` now; or
    fewer brokers are registered than `expect.brokers`. CRITICAL where a partition with a replica there has no leader. Unless only
    the previous snapshot knows it, two looks have to agree. In KRaft mode registered is who the newest view lists, or who
    answers.

    ## Not known when
    ZooKeeper was not read (KRaft: fewer than two brokers gave a view), a registration was unreadable, or the absence was seen
    once (a restart takes seconds).

    ## Passes only when
    The broker is registered; for the cluster: as many are registered as `expect.brokers` says.

    ## What to do
    On its host: is the process up, and what does the end of `server.log` say (`grep -E 'FATAL|shut down|Session expired'`)? Start
    it. If it was removed for good, move its replicas with `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092`:
    `--generate --topics-to-move-json-file topics.json --broker-list <ids that stay>` (at least as many as a partition has
    replicas) prints a plan; `--reassignment-json-file plan.json --execute` carries it out, `--verify` instead tells how far.

    ## References
    What the controller does when a registration goes: `kafka.controller.KafkaController.onBrokerFailure`.
    """
    return """
        WITH counted AS (SELECT snapshot_id, count_if(registered) AS n FROM known_broker GROUP BY snapshot_id),
        told AS (
            SELECT b.snapshot_id, concat('broker/', b.broker_id) AS resource, concat('broker ', b.broker_id) AS who,
                   concat('Broker ', b.broker_id, ' is') AS subject, b.registered,
                   if(b.unreadable, concat('zookeeper /brokers/ids/', b.broker_id), NULL) AS unreadable, b.leaderless, b.replicas,
                   NOT b.before AND (j.steady OR b.replicas = 0) AS settled,
                   if(b.replicas > 0, 'partitions are assigned to it', 'the previous snapshot had it registered') AS why
            FROM known_broker AS b JOIN judged AS j ON j.snapshot_id = b.snapshot_id
            WHERE b.registered OR b.previous OR b.unreadable OR b.replicas > 0
            UNION ALL
            SELECT j.snapshot_id, 'cluster', 'an expected broker',
                   if(c.n >= j.expect_brokers, concat(j.expect_brokers, ' brokers are expected and'),
                      concat(j.expect_brokers - c.n, ' of ', j.expect_brokers, ' expected brokers are')),
                   c.n >= j.expect_brokers, NULL, p.leaderless, p.partitions, j.steady,
                   concat('the cluster file expects ', j.expect_brokers, ', registered are ', c.n)
            FROM (SELECT * FROM judged WHERE expect_brokers IS NOT NULL) AS j
            LEFT JOIN (SELECT j.snapshot_id, coalesce(c.n, 0) AS n FROM judged AS j LEFT JOIN counted AS c
                       ON c.snapshot_id = j.snapshot_id) AS c ON c.snapshot_id = j.snapshot_id
            LEFT JOIN partition_count AS p ON p.snapshot_id = j.snapshot_id)
        SELECT snapshot_id, 'KA113' AS code, resource,
               CASE WHEN registered THEN 'PASS' WHEN unreadable IS NOT NULL OR NOT settled THEN 'UNKNOWN' ELSE 'FAIL' END
                   AS status,
               if(leaderless > 0, 'CRITICAL', NULL) AS severity, 'measured' AS confidence,
               map('who', who, 'subject', subject, 'why', why,
                   'leaderless', string(coalesce(leaderless, 0)), 'replicas', string(coalesce(replicas, 0)),
                   'error', if(unreadable IS NULL, if(settled, NULL, 'in motion'), concat(unreadable, ' failed')),
                   'needs', if(unreadable IS NULL,
                       'another audit: this was seen once, or the list of brokers changed between two looks',
                               'a readable registration')) AS evidence
        FROM told
    """
