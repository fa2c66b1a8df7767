"""What stands in for ZooKeeper in KRaft mode: the newest that brokers hold among themselves, as registered rows by slot.

Every KRaft broker follows one log, so of two views one is older: where they differ in a partition of the same topic id, it is the
one with the lower leader epoch. Where no epoch tells, more brokers are newer: one that is cut off stands still, the others go on.
Source: `org.apache.kafka.metadata.KRaftMetadataCache`, KIP-631 (one metadata log; fenced brokers are left out of Metadata).
"""

from collections.abc import Mapping
from types import MappingProxyType

from kafka_audit.engine.view import View
from kafka_audit.model.tables import RegisteredBroker, RegisteredEndpoint, RegisteredPartition, RegisteredTopic, Registry, Row

TOLD_LIST = View(
    name="told_list",
    doc="""KRaft: each distinct list of topics and brokers in a look, with the `names` of brokers that hold it; nothing where
    fewer than two brokers gave a view. `place` 1: the newest, by the leader epochs of the topics that all lists have, else what
    most brokers hold; `tied`: how many lists share that place, so that which is the newer does not show. Empty lists and other
    clusters' are left out. `source_id` is the snapshot that the rows are of, `brokers_digest` the list on the first
    `address`.""",
    sql="",
    kraft="""
        WITH told AS (
            SELECT l.snapshot_id, l.slot, l.source_id, v.topics_digest, v.brokers_digest, v.brokers_listed, v.kafka_cluster_id,
                   v.address, coalesce(string(nullif(v.broker_id, -1)), string(i.answered_by), v.address) AS name
            FROM look AS l
            JOIN snapshot_info AS s ON s.snapshot_id = l.source_id AND s.mode = 'kraft'
            JOIN broker_view AS v ON v.snapshot_id = l.source_id AND v.sample = l.sample
            LEFT JOIN broker_identity AS i ON i.snapshot_id = l.source_id AND i.sample = l.sample AND i.broker_id = -1
                AND i.address = v.address),
        most AS (
            SELECT snapshot_id, slot, max_by(kafka_cluster_id, struct(n, kafka_cluster_id)) AS right_id
            FROM (SELECT snapshot_id, slot, kafka_cluster_id, count(DISTINCT name) AS n FROM told
                  GROUP BY snapshot_id, slot, kafka_cluster_id)
            GROUP BY snapshot_id, slot HAVING max(n) > 1),
        ids AS (
            SELECT snapshot_id, brokers_digest, array_sort(collect_set(broker_id)) AS ids FROM view_broker
            GROUP BY snapshot_id, brokers_digest),
        list AS (
            SELECT t.snapshot_id, t.slot, t.source_id, m.right_id, t.topics_digest, i.ids, min(t.address) AS address,
                   min_by(t.brokers_digest, t.address) AS brokers_digest, array_sort(collect_set(t.name)) AS names
            FROM told AS t
            JOIN most AS m ON m.snapshot_id = t.snapshot_id AND m.slot = t.slot AND m.right_id <=> t.kafka_cluster_id
            JOIN ids AS i ON i.snapshot_id = t.source_id AND i.brokers_digest = t.brokers_digest
            WHERE t.brokers_listed > 0
            GROUP BY t.snapshot_id, t.slot, t.source_id, m.right_id, t.topics_digest, i.ids),
        topic AS (
            SELECT l.snapshot_id, l.slot, l.source_id, l.topics_digest, t.topic, t.topic_id, t.topic_digest
            FROM (SELECT DISTINCT snapshot_id, slot, source_id, topics_digest FROM list) AS l
            JOIN view_topic AS t ON t.snapshot_id = l.source_id AND t.topics_digest = l.topics_digest),
        lists AS (SELECT snapshot_id, slot, count(DISTINCT topics_digest) AS n FROM topic GROUP BY snapshot_id, slot),
        differing AS (
            SELECT t.snapshot_id, t.slot, t.topic, t.topic_id
            FROM topic AS t JOIN lists AS l ON l.snapshot_id = t.snapshot_id AND l.slot = t.slot
            GROUP BY t.snapshot_id, t.slot, t.topic, t.topic_id, l.n
            HAVING count(*) = l.n AND count(DISTINCT t.topic_digest) > 1),
        epochs AS (
            SELECT t.snapshot_id, t.slot, t.topics_digest, sum(p.leader_epoch + 1) AS age
            FROM differing AS d
            JOIN topic AS t ON t.snapshot_id = d.snapshot_id AND t.slot = d.slot AND t.topic = d.topic
                AND t.topic_id <=> d.topic_id
            JOIN view_partition AS p ON p.snapshot_id = t.source_id AND p.topic_digest = t.topic_digest AND p.topic = t.topic
            GROUP BY t.snapshot_id, t.slot, t.topics_digest),
        ranked AS (
            SELECT l.*, rank() OVER (PARTITION BY l.snapshot_id, l.slot
                                     ORDER BY coalesce(e.age, 0) DESC, size(l.names) DESC) AS place
            FROM list AS l LEFT JOIN epochs AS e
                ON e.snapshot_id = l.snapshot_id AND e.slot = l.slot AND e.topics_digest = l.topics_digest)
        SELECT *, count_if(place = 1) OVER (PARTITION BY snapshot_id, slot) AS tied FROM ranked
    """,
    kept="small",
)

TOLD_TOPIC = View(
    name="told_topic",
    doc="""Topics of the newest lists, with their ids. `disputed`: lists that share the first place differ in it.""",
    sql="",
    kraft="""
        SELECT l.snapshot_id, l.slot, t.topic, max(t.topic_id) AS topic_id,
               count(*) < max(l.tied) OR count(DISTINCT t.topic_id) > 1 AS disputed
        FROM told_list AS l JOIN view_topic AS t ON t.snapshot_id = l.source_id AND t.topics_digest = l.topics_digest
        WHERE l.place = 1 AND t.error <> 29
        GROUP BY l.snapshot_id, l.slot, t.topic
    """,
)

_NONE = "CAST(NULL AS BIGINT)"

_REGISTRY = f"""
    SELECT snapshot_id, slot, max(right_id) AS kafka_cluster_id, {_NONE} AS controller_id, {_NONE} AS controller_epoch,
           {_NONE} AS controller_mzxid,
           crc32(string(array_sort(array_distinct(flatten(collect_list(ids)))))) AS brokers_pzxid,
           {_NONE} AS zxid_before, {_NONE} AS zxid_after,
           transform(array_sort(transform(array_distinct(flatten(collect_list(names))),
                                          n -> struct(length(n) AS digits, n AS name))), s -> s.name) AS holders
    FROM told_list WHERE place = 1 GROUP BY snapshot_id, slot
"""  # noqa: S608 -- a typed null

_BROKER = f"""
    SELECT l.snapshot_id, l.slot, b.broker_id, min_by(b.rack, l.address) AS rack, {_NONE} AS ephemeral_owner,
           {_NONE} AS registered_ms,
           {_NONE} AS czxid, crc32(min_by(concat(b.host, ':', b.port), l.address)) AS mzxid, count(*) < max(l.tied) AS disputed
    FROM told_list AS l JOIN view_broker AS b ON b.snapshot_id = l.source_id AND b.brokers_digest = l.brokers_digest
    WHERE l.place = 1 GROUP BY l.snapshot_id, l.slot, b.broker_id
"""  # noqa: S608 -- a typed null

_ENDPOINT = """
    SELECT l.snapshot_id, l.slot, b.broker_id, '' AS listener, CAST(NULL AS STRING) AS protocol,
           min_by(b.host, l.address) AS host, min_by(b.port, l.address) AS port
    FROM told_list AS l JOIN view_broker AS b ON b.snapshot_id = l.source_id AND b.brokers_digest = l.brokers_digest
    WHERE l.place = 1 GROUP BY l.snapshot_id, l.slot, b.broker_id
"""

_TOPIC = f"""
    SELECT snapshot_id, slot, topic, topic_id, {_NONE} AS czxid, {_NONE} AS mzxid, false AS deleting, disputed FROM told_topic
"""  # noqa: S608 -- a typed null

# An answer with error 5 names no leader because there is none; one with error 72 because the leader lacks the listener.
_PARTITION = f"""
    WITH content AS (
        SELECT l.snapshot_id, l.slot, l.source_id, t.topic, t.topic_digest, min(l.place) AS place
        FROM told_list AS l
        JOIN view_topic AS t ON t.snapshot_id = l.source_id AND t.topics_digest = l.topics_digest
        JOIN told_topic AS r ON r.snapshot_id = l.snapshot_id AND r.slot = l.slot AND r.topic = t.topic
            AND r.topic_id <=> t.topic_id
        GROUP BY l.snapshot_id, l.slot, l.source_id, t.topic, t.topic_digest),
    newest AS (
        SELECT c.snapshot_id, c.slot, v.topic, v.partition,
               max_by(struct(v.replicas, v.leader, v.error, v.leader_epoch, v.isr),
                      struct(coalesce(v.leader_epoch, -1), v.error = 0, -c.place, v.topic_digest)) AS row
        FROM content AS c
        JOIN view_partition AS v ON v.snapshot_id = c.source_id AND v.topic_digest = c.topic_digest AND v.topic = c.topic
        GROUP BY c.snapshot_id, c.slot, v.topic, v.partition)
    SELECT snapshot_id, slot, topic, partition, row.replicas, CASE row.error WHEN 72 THEN NULL WHEN 5 THEN -1 ELSE row.leader END
               AS leader,
           row.leader_epoch, {_NONE} AS controller_epoch, row.isr, {_NONE} AS leader_recovery_state,
           row.leader_epoch AS state_mzxid
    FROM newest
"""  # noqa: S608 -- a typed null

INSTEAD: Mapping[type[Row], tuple[str, str]] = MappingProxyType(
    {
        Registry: (_REGISTRY, "CAST(NULL AS ARRAY<STRING>) AS holders"),
        RegisteredBroker: (_BROKER, "false AS disputed"),
        RegisteredEndpoint: (_ENDPOINT, ""),
        RegisteredTopic: (_TOPIC, "false AS disputed"),
        RegisteredPartition: (_PARTITION, ""),
    }
)
"""Rows that KRaft snapshots have instead of ZooKeeper's, and the columns that they have more, as ZooKeeper's rows have them.

`holders`: the names of brokers that hold the newest; null where ZooKeeper holds it. `disputed`: of views that nothing puts in an
order only some have it. The nameless listener '' is a broker's address of which nobody told the listener. A topic without czxid
    is compared by id. What a state rests on is its leader epoch (`state_mzxid`), a broker its address, a look the list of
    brokers."""

VIEWS: tuple[View, ...] = (TOLD_LIST, TOLD_TOPIC)
