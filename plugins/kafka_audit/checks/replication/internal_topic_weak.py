"""KA609."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic


@sql_check(
    code="KA609",
    severity=Severity.HIGH,
    needs=(RegisteredTopic, RegisteredPartition),
    says={
        Status.FAIL: "{topic} has {factor} where {enough} brokers could hold it: when {loss}, {consequence}",
        Status.PASS: "Each of Kafka's own topics that exist ({topics}) has {enough} replicas",
        Status.UNKNOWN: "Not known: whether Kafka's own topics have enough replicas ({error})",
        Status.NOT_APPLICABLE: "There cannot be more replicas: {reason}",
    },
)
def internal_topic_weak() -> str:
    """One of Kafka's own topics has too few replicas.

    ## Why it matters
    `__consumer_offsets` is what all consumer groups stand on, `__transaction_state` all transactions. Where they have one
    replica, a single broker that stops ends every group, or transaction, whose part is there, however well the data itself is
    replicated.

    ## Fails when
    A partition of it has one replica, and the cluster has several brokers. MEDIUM where it has two, and there are three brokers
    or more. They were created while there were fewer brokers, or with the settings of a quick start. That all replicas are needed
    in sync is KA605.

    ## Not known when
    Topics were not read. It does not apply to a cluster of one broker.

    ## Passes only when
    Those of them that exist have three replicas, or one on each broker.

    ## What to do
    Reassign every partition of {topic} to three brokers:
    `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092 --reassignment-json-file plan.json --execute`. The settings
    `offsets.topic.replication.factor` and `transaction.state.log.replication.factor` hold for topics to come only.

    ## References
    Kafka documentation, "Broker Configs"; KIP-115.
    """
    return """
        WITH size AS (SELECT snapshot_id, count(*) AS brokers FROM known_broker GROUP BY snapshot_id),
        own AS (
            SELECT n.snapshot_id, n.topic, min(size(n.replicas)) AS factor, count(*) AS partitions, min(least(s.brokers,
                3)) AS enough
            FROM registered_partition_at AS n
            JOIN registered_topic_at AS t
                ON t.snapshot_id = n.snapshot_id AND t.slot = n.slot AND t.topic = n.topic AND NOT t.deleting
            JOIN size AS s ON s.snapshot_id = n.snapshot_id
            WHERE n.slot = 'now' AND n.topic IN ('__consumer_offsets', '__transaction_state', '__share_group_state')
            GROUP BY n.snapshot_id, n.topic),
        whole AS (
            SELECT snapshot_id, bool_or(factor < enough) AS weak, array_join(array_sort(collect_list(topic)), ', ') AS topics
            FROM own GROUP BY snapshot_id)
        SELECT snapshot_id, 'KA609' AS code, concat('topic/', topic) AS resource, 'FAIL' AS status,
               if(factor = 1, NULL, 'MEDIUM') AS severity, 'measured' AS confidence,
               map('topic', topic, 'factor', if(factor = 1, 'a single replica', concat(factor, ' replicas')), 'enough',
                   string(enough),
                   'loss', if(factor = 1, 'its broker stops', 'two brokers stop'),
                   'consequence', CASE topic WHEN '__consumer_offsets' THEN 'consumer groups stop'
                                             WHEN '__transaction_state' THEN 'transactions stop' ELSE 'share groups stop' END)
                   AS evidence
        FROM own WHERE factor < enough
        UNION ALL
        SELECT j.snapshot_id, 'KA609', 'cluster',
               CASE WHEN s.brokers = 1 THEN 'NOT_APPLICABLE' WHEN j.mode = 'kraft' AND c.snapshot_id IS NULL THEN 'UNKNOWN'
                    ELSE 'PASS' END, NULL, 'measured',
               map('topics', coalesce(w.topics, 'none'), 'enough', string(least(s.brokers, 3)), 'reason', 'there is one broker',
                   'error', 'no view lists a topic', 'needs', 'Describe on Topic, where there are topics')
        FROM judged AS j
        LEFT JOIN size AS s ON s.snapshot_id = j.snapshot_id
        LEFT JOIN whole AS w ON w.snapshot_id = j.snapshot_id
        LEFT JOIN partition_count AS c ON c.snapshot_id = j.snapshot_id
        WHERE NOT coalesce(w.weak, false)
    """
