"""KA109."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredTopic, Registry


@sql_check(
    code="KA109",
    severity=Severity.CRITICAL,
    needs=(Registry, RegisteredTopic, BrokerView),
    says={
        Status.FAIL: "{count} topics have another id at brokers than in ZooKeeper ({topics}): {first}",
        Status.PASS: "Every topic id that a broker shows is the one in ZooKeeper ({compared} topics)",
        Status.UNKNOWN: "Not known: whether topics have the same id in ZooKeeper and at brokers ({error})",
        Status.NOT_APPLICABLE: "No topic ids to compare: {reason}",
    },
)
def topic_id_differs() -> str:
    """A topic's id in ZooKeeper is missing, or another than its brokers know.

    ## Why it matters
    Brokers write the id beside the data. With another one they refuse to lead and to follow the partition
    (INCONSISTENT_TOPIC_ID); where it is missing, the next controller makes up a new one, and the same happens at the next
    restart.

    ## Fails when
    Brokers show an id for a topic, and `/brokers/topics/T` has another one: CRITICAL. HIGH where the znode has none: a tool from
    before Kafka 2.8 has written it anew. In two looks, the znode unchanged in between.

    ## Not known when
    No broker gave a view, topics were not read, or the difference was seen once. It does not apply where no broker shows ids,
    that is before Kafka 2.8, and in KRaft, where ids are in no second place.

    ## Passes only when
    Ids were shown, and each is the one in ZooKeeper.

    ## What to do
    Restart no broker and move no controller now. Stop whatever wrote the znode: `kafka-topics.sh --zookeeper` or
    `kafka-reassign-partitions.sh --zookeeper` of an old version. Then put the id that brokers show back into the znode of each
    topic ({topics}), which is beside the data in `partition.metadata` as well; keep a copy of the znode first.

    ## References
    KIP-516 (topic ids); KAFKA-14190.
    """
    return """
        WITH seen AS (
            SELECT DISTINCT h.snapshot_id, h.slot, t.topic, t.mzxid, t.topic_id AS held, v.topic_id AS said
            FROM held_topics AS h
            JOIN view_topic AS v ON v.snapshot_id = h.snapshot_id AND v.topics_digest = h.topics_digest AND v.topic_id IS NOT NULL
            JOIN registered_topic_at AS t ON t.snapshot_id = h.snapshot_id AND t.slot = h.slot AND t.topic = v.topic
                AND NOT t.deleting),
        told AS (
            SELECT n.snapshot_id, count(DISTINCT n.topic) AS compared,
                   array_sort(collect_set(if(NOT n.said <=> n.held AND j.steady AND b.topic IS NOT NULL,
                                             struct(n.topic, n.held, n.said), NULL))) AS wrong,
                   count_if(NOT n.said <=> n.held AND NOT (j.steady AND b.topic IS NOT NULL)) AS moving,
                   bool_or(n.held IS NOT NULL AND n.said <> n.held AND j.steady AND b.topic IS NOT NULL) AS other
            FROM seen AS n
            JOIN judged AS j ON j.snapshot_id = n.snapshot_id
            LEFT JOIN seen AS b ON b.snapshot_id = n.snapshot_id AND b.slot = 'before' AND b.topic = n.topic AND b.mzxid = n.mzxid
                AND b.held <=> n.held AND b.said = n.said
            WHERE n.slot = 'now' GROUP BY n.snapshot_id)
        SELECT j.snapshot_id, 'KA109' AS code, 'cluster' AS resource,
               CASE WHEN NOT coalesce(o.answered, false) THEN 'UNKNOWN' WHEN size(t.wrong) > 0 THEN 'FAIL'
                    WHEN t.snapshot_id IS NULL THEN 'NOT_APPLICABLE' WHEN t.moving > 0 THEN 'UNKNOWN' ELSE 'PASS' END AS status,
               if(t.other, NULL, 'HIGH') AS severity, 'measured' AS confidence,
               map('count', string(size(t.wrong)), 'compared', string(t.compared),
                   'topics', array_join(transform(slice(t.wrong, 1, 10), w -> w.topic), ', '),
                   'first', concat(get(t.wrong, 0).topic, ' is ', get(t.wrong, 0).said, ' at brokers and ',
                                   coalesce(get(t.wrong, 0).held, 'without id'), ' in ZooKeeper'),
                   'reason', 'no broker shows topic ids, as before Kafka 2.8',
                   'error', if(coalesce(o.answered, false), concat(t.moving, ' topics differed in one look'),
                       'no broker gave a view'),
                   'needs', if(coalesce(o.answered, false), 'another audit', 'an answer of a broker to Metadata')) AS evidence
        FROM judged AS j
        LEFT JOIN told AS t ON t.snapshot_id = j.snapshot_id
        LEFT JOIN (SELECT snapshot_id, bool_or(answered) AS answered FROM observer GROUP BY snapshot_id) AS o
            ON o.snapshot_id = j.snapshot_id
    """
