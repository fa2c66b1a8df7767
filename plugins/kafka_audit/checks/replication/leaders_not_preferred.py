"""KA607."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic


@sql_check(
    code="KA607",
    severity=Severity.LOW,
    needs=(RegisteredTopic, RegisteredPartition),
    says={
        Status.FAIL: "Leaders are not where they are preferred: {brokers}",
        Status.PASS: "No broker lacks more than 10 % of the {led} partitions whose preferred leaders are in sync",
        Status.UNKNOWN: "Not known: whether leaders are where they are preferred ({error})",
        Status.NOT_APPLICABLE: "Leaders are not compared: {reason}",
    },
)
def leaders_not_preferred() -> str:
    """Brokers do not lead what they are preferred for.

    ## Why it matters
    The first replica of a partition is its preferred leader, and that is how load is dealt out. After a restart the others carry
    the broker's share: it idles, they are hot, and the next one that stops moves twice as many leaders.

    ## Fails when
    A broker does not lead more than 10 % of the partitions whose first replica it is, though it is in their ISR: Kafka's own
    measure, `leader.imbalance.per.broker.percentage`. After a restart this is temporary, for as long as
    `leader.imbalance.check.interval.seconds` (300) at most, where `auto.leader.rebalance.enable` is true.

    ## Not known when
    Topics were not read.

    ## Passes only when
    No broker lacks so many.

    ## What to do
    Once no replica is missing (KA604), move the leaders back:
    `kafka-leader-election.sh --bootstrap-server <broker>:9092 --election-type preferred --all-topic-partitions`. If it comes
    again after every restart, set `auto.leader.rebalance.enable=true`, its default. First: {brokers}.

    ## References
    Kafka documentation, "Balancing leadership".
    """
    return """
        WITH led AS (
            SELECT n.snapshot_id, get(n.replicas, 0) AS broker_id, count(*) AS n, count_if(n.leader <> get(n.replicas, 0)) AS away
            FROM registered_partition_at AS n
            JOIN registered_topic_at AS t
                ON t.snapshot_id = n.snapshot_id AND t.slot = n.slot AND t.topic = n.topic AND NOT t.deleting
            WHERE n.slot = 'now' AND n.leader >= 0 AND array_contains(n.isr, get(n.replicas, 0))
            GROUP BY n.snapshot_id, get(n.replicas, 0)),
        skew AS (
            SELECT snapshot_id, sum(n) AS led,
                   array_sort(collect_list(if(away * 10 > n, struct(-away / n AS part, broker_id, n, away), NULL))) AS brokers
            FROM led GROUP BY snapshot_id)
        SELECT j.snapshot_id, 'KA607' AS code, 'cluster' AS resource,
               CASE WHEN size(s.brokers) > 0 THEN 'FAIL' WHEN s.led IS NULL AND j.mode = 'kraft' THEN 'UNKNOWN' ELSE 'PASS' END
                   AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('led', string(coalesce(s.led, 0)), 'error', 'no view lists a topic', 'needs',
                   'Describe on Topic, where there are topics', 'brokers',
                   concat(array_join(transform(slice(s.brokers, 1, 10), b -> concat('broker ', b.broker_id, ' does not lead ',
                       b.away,
                                                                                   ' of the ', b.n, ' that it is preferred for')),
                                     '; '),
                          if(size(s.brokers) > 10, concat('; and ', size(s.brokers) - 10, ' more brokers'), ''))) AS evidence
        FROM judged AS j LEFT JOIN skew AS s ON s.snapshot_id = j.snapshot_id
    """
