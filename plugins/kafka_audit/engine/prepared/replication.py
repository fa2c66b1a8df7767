"""How partitions are replicated: what is wrong with each, and what topics and reassignments ask for."""

from kafka_audit.engine.view import View

MOVING = View(
    name="moving",
    doc="""Partitions under reassignment, whoever told of it: the replicas that are being added and removed.""",
    sql="""
        SELECT snapshot_id, slot, topic, partition, array_sort(array_distinct(flatten(collect_list(adding)))) AS adding,
               array_sort(array_distinct(flatten(collect_list(removing)))) AS removing
        FROM reassignment_at GROUP BY snapshot_id, slot, topic, partition
    """,
    kept="small",
)

UNTOLD = View(
    name="min_isr_gap",
    doc="""Judged snapshots in which not every partition's min.insync.replicas is known, with `error` and `needs`.
    `topics_unread`: what some topics set for themselves was not read; `whole`: of none, so that it is known of no partition.""",
    sql="""
        WITH asked AS (
            SELECT snapshot_id,
                   bool_or(outcome = 'answered' AND operation IN ('zookeeper /config/topics', 'DescribeConfigs TOPIC'))
                       AS answered,
                   max(if(outcome = 'failed', struct(error, needs), NULL)) AS failed
            FROM read_now
            WHERE slot = 'now' AND (operation LIKE 'zookeeper /config/topics%' OR operation = 'DescribeConfigs TOPIC')
            GROUP BY snapshot_id),
        brokers AS (
            SELECT b.snapshot_id, count(*) AS n, count(s.min_isr) AS told, min(s.min_isr) AS lowest, max(s.min_isr) AS highest
            FROM registered_broker_at AS b
            LEFT JOIN broker_setting AS s ON s.snapshot_id = b.snapshot_id AND s.broker_id = b.broker_id
            WHERE b.slot = 'now' GROUP BY b.snapshot_id)
        SELECT j.snapshot_id, NOT coalesce(a.answered, false) AS whole,
               NOT coalesce(a.answered, false) OR a.failed IS NOT NULL AS topics_unread,
               if(coalesce(a.failed IS NULL AND a.answered, false), 'not every broker told min.insync.replicas',
                  concat('what topics set for themselves was not read: ', coalesce(a.failed.error, 'nobody was asked'))) AS error,
               if(coalesce(a.failed IS NULL AND a.answered, false), 'DescribeConfigs on Cluster',
                  coalesce(a.failed.needs, if(j.mode = 'kraft', 'DescribeConfigs on Topic', 'a ZooKeeper that answers'))) AS needs
        FROM judged AS j
        LEFT JOIN asked AS a ON a.snapshot_id = j.snapshot_id
        LEFT JOIN brokers AS b ON b.snapshot_id = j.snapshot_id
        WHERE NOT coalesce(a.answered, false) OR a.failed IS NOT NULL OR coalesce(b.told, 0) = 0
            OR (b.told < b.n AND b.lowest < b.highest)
    """,
    kept="small",
)

MIN_ISR = View(
    name="broker_min_isr",
    doc="""What a topic without a setting of its own needs in sync, by the broker that leads: its own word, else that of all the
    others. `capped`: from Kafka 3.7 on (Fetch version 16) never more than there are replicas.""",
    sql="""
        WITH common AS (
            SELECT snapshot_id, if(min(min_isr) = max(min_isr), min(min_isr), NULL) AS min_isr FROM broker_setting
            GROUP BY snapshot_id)
        SELECT b.snapshot_id, b.broker_id, coalesce(s.min_isr, a.min_isr) AS min_isr,
               coalesce(v.max_version >= 16, false) AS capped
        FROM registered_broker_at AS b
        LEFT JOIN broker_setting AS s ON s.snapshot_id = b.snapshot_id AND s.broker_id = b.broker_id
        LEFT JOIN common AS a ON a.snapshot_id = b.snapshot_id
        LEFT JOIN broker_api AS v ON v.snapshot_id = b.snapshot_id AND v.broker_id = b.broker_id AND v.api_key = 1
        WHERE b.slot = 'now'
    """,
    kept="small",
)

RACKS = View(
    name="rack_map",
    doc="""Per judged snapshot: `racks` by broker, `places` how many racks there are, `ids` of the brokers, and `back`: those that
    registered since the previous snapshot.""",
    sql="""
        SELECT n.snapshot_id, map_from_entries(collect_list(if(n.rack IS NULL, NULL, struct(n.broker_id, n.rack)))) AS racks,
               count(DISTINCT n.rack) AS places,
               collect_set(if(NOT n.mzxid <=> p.mzxid, n.broker_id, NULL)) AS back, collect_set(n.broker_id) AS ids
        FROM registered_broker_at AS n
        LEFT JOIN registered_broker_at AS p ON p.snapshot_id = n.snapshot_id AND p.slot = 'previous' AND p.broker_id = n.broker_id
        WHERE n.slot = 'now' GROUP BY n.snapshot_id
    """,
    kept="small",
)

STATE = View(
    name="replica_state",
    doc="""Partitions with which anything is wrong, or that have one replica; topics in deletion are left out. `missing`: replicas
    out of the ISR, those that a reassignment adds left out (`factor` counts without them); `lasting`: those of them that were
    missing in the previous snapshot too and did not come back in between, null where that cannot be compared. `min_isr`: what
    writes with acks=all need, null where unknown. `rack`: the one that all replicas are on. `settled`: leader, ISR and state were
    the same in both looks, and no broker came or went.""",
    sql="""
        WITH own_setting AS (
            SELECT snapshot_id, topic, max(try_cast(value AS BIGINT)) AS min_isr FROM topic_config
            WHERE key = 'min.insync.replicas' GROUP BY snapshot_id, topic),
        told AS (
            SELECT n.snapshot_id, n.topic, n.partition, n.replicas, n.leader, n.isr, n.state_mzxid,
                   array_except(n.replicas, coalesce(m.adding, array())) AS own,
                   coalesce(size(m.adding) + size(m.removing), 0) > 0 AS moving,
                   if(g.whole, NULL, coalesce(c.min_isr, b.min_isr)) AS min_isr,
                   coalesce(b.capped, false) AS capped, k.back, k.ids,
                   if(k.places > 1, array_distinct(transform(n.replicas, r -> k.racks[r])), array()) AS racks
            FROM registered_partition_at AS n
            JOIN registered_topic_at AS t
                ON t.snapshot_id = n.snapshot_id AND t.slot = n.slot AND t.topic = n.topic AND NOT t.deleting
            LEFT JOIN min_isr_gap AS g ON g.snapshot_id = n.snapshot_id
            LEFT JOIN own_setting AS c ON c.snapshot_id = n.snapshot_id AND c.topic = n.topic
            LEFT JOIN broker_min_isr AS b
                ON b.snapshot_id = n.snapshot_id AND b.broker_id = if(n.leader >= 0, n.leader, get(n.replicas, 0))
            LEFT JOIN rack_map AS k ON k.snapshot_id = n.snapshot_id
            LEFT JOIN moving AS m ON m.snapshot_id = n.snapshot_id AND m.slot = n.slot AND m.topic = n.topic
                AND m.partition = n.partition
            WHERE n.slot = 'now'),
        wrong AS (
            SELECT snapshot_id, topic, partition, replicas, leader, isr, state_mzxid, back, ids, moving,
                   if(size(own) = 0, size(replicas), size(own)) AS factor, array_except(own, isr) AS missing,
                   if(capped, least(min_isr, size(replicas)), min_isr) AS min_isr,
                   if(size(replicas) > 1 AND size(racks) = 1, get(racks, 0), NULL) AS rack
            FROM told
            WHERE leader = -1 OR size(isr) < size(replicas) OR size(replicas) <= coalesce(min_isr, 1)
                OR (size(replicas) > 1 AND size(racks) = 1 AND get(racks, 0) IS NOT NULL))
        SELECT w.snapshot_id, concat('topic/', w.topic, '/partition/', w.partition) AS resource,
               concat(w.topic, '-', w.partition) AS name, w.topic, w.partition, w.replicas, w.leader, w.isr, w.factor, w.missing,
               w.min_isr, w.rack, w.moving, array_except(w.missing, w.ids) AS gone,
               j.steady AND b.leader <=> w.leader AND b.isr <=> w.isr AND b.state_mzxid <=> w.state_mzxid AS settled,
               if(p.topic IS NULL, NULL, array_except(array_intersect(w.missing, array_except(p.replicas, p.isr)), w.back))
                   AS lasting
        FROM wrong AS w
        JOIN judged AS j ON j.snapshot_id = w.snapshot_id
        LEFT JOIN registered_partition_at AS b
            ON b.snapshot_id = w.snapshot_id AND b.slot = 'before' AND b.topic = w.topic AND b.partition = w.partition
        LEFT JOIN registered_partition_at AS p
            ON p.snapshot_id = w.snapshot_id AND p.slot = 'previous' AND p.topic = w.topic AND p.partition = w.partition
    """,
    kept="large",
)

UNDER_WAY = View(
    name="reassignment_now",
    doc="""Reassignments under way. `comparable`: there is a previous snapshot; `hangs`: it had the same one, and no further
    replica has joined the ISR since. `dead`: brokers to be added that are not registered.""",
    sql="""
        SELECT m.snapshot_id, m.topic, m.partition, m.adding, m.removing, n.isr, g.snapshot_id IS NULL AS comparable,
               q.topic IS NOT NULL AND p.topic IS NOT NULL AND coalesce(t.same, false)
                   AND coalesce(size(array_except(n.isr, p.isr)) = 0, true) AS hangs,
               array_except(m.adding, coalesce(k.ids, array())) AS dead
        FROM moving AS m
        LEFT JOIN previous_gap AS g ON g.snapshot_id = m.snapshot_id
        LEFT JOIN rack_map AS k ON k.snapshot_id = m.snapshot_id
        LEFT JOIN topic_pair AS t ON t.snapshot_id = m.snapshot_id AND t.topic = m.topic
        LEFT JOIN moving AS q ON q.snapshot_id = m.snapshot_id AND q.slot = 'previous' AND q.topic = m.topic
            AND q.partition = m.partition AND q.adding = m.adding AND q.removing = m.removing
        LEFT JOIN registered_partition_at AS n
            ON n.snapshot_id = m.snapshot_id AND n.slot = 'now' AND n.topic = m.topic AND n.partition = m.partition
        LEFT JOIN registered_partition_at AS p
            ON p.snapshot_id = m.snapshot_id AND p.slot = 'previous' AND p.topic = m.topic AND p.partition = m.partition
        WHERE m.slot = 'now'
    """,
    kept="small",
)

COUNT = View(
    name="reassignment_count",
    doc="""Per judged snapshot: how many reassignments are `moving`, and of those `hanging`; `throttled`: none is moving, and
    there are throttles, at `places`; `error` with `needs` where reassignments or throttles were not read, or there is no earlier
    audit to compare with.""",
    sql="""
        WITH throttled AS (
            SELECT c.snapshot_id, array_sort(collect_set(c.topic)) AS topics FROM topic_config AS c
            JOIN pair AS p ON p.snapshot_id = c.snapshot_id
            WHERE c.key LIKE '%throttled.replicas' AND c.value <> '' GROUP BY c.snapshot_id),
        slowed AS (
            -- A rate is no key that brokers have by default; its value is hidden.
            SELECT c.snapshot_id, array_sort(collect_set(c.broker_id)) AS brokers FROM broker_config AS c
            JOIN pair AS p ON p.snapshot_id = c.snapshot_id
            WHERE c.key LIKE '%.replication.throttled.rate' AND c.source <> 5 GROUP BY c.snapshot_id),
        counted AS (
            SELECT snapshot_id, count(*) AS n, count_if(hangs) AS hanging, count_if(NOT comparable) AS alone
            FROM reassignment_now GROUP BY snapshot_id),
        asked AS (
            SELECT snapshot_id, bool_or(outcome = 'answered') AS answered, max(error) AS error, max(needs) AS needs
            FROM read_now WHERE slot = 'now' AND operation = 'ListPartitionReassignments' GROUP BY snapshot_id)
        SELECT j.snapshot_id, coalesce(u.n, 0) AS moving, coalesce(u.hanging, 0) AS hanging,
               coalesce(u.n, 0) = 0 AND coalesce(size(t.topics) > 0, size(b.brokers) > 0, false) AS throttled,
               concat_ws(' and on ', concat(size(t.topics), if(size(t.topics) = 1, ' topic (', ' topics ('),
                                            array_join(slice(t.topics, 1, 10), ', '), ')'),
                         concat('broker ', array_join(b.brokers, ', broker '))) AS places,
               CASE WHEN j.mode = 'kraft' AND NOT coalesce(r.answered, false)
                        THEN concat('reassignments were not read: ', coalesce(r.error, 'nobody was asked'))
                    WHEN s.topics_unread THEN s.error
                    WHEN u.alone > 0 THEN concat(u.alone, ' under way, and no earlier audit to tell for how long') END AS error,
               CASE WHEN j.mode = 'kraft' AND NOT coalesce(r.answered, false) THEN coalesce(r.needs, 'Describe on Cluster')
                    WHEN s.topics_unread THEN s.needs ELSE 'another audit' END AS needs
        FROM judged AS j
        LEFT JOIN counted AS u ON u.snapshot_id = j.snapshot_id
        LEFT JOIN throttled AS t ON t.snapshot_id = j.snapshot_id
        LEFT JOIN slowed AS b ON b.snapshot_id = j.snapshot_id
        LEFT JOIN min_isr_gap AS s ON s.snapshot_id = j.snapshot_id
        LEFT JOIN asked AS r ON r.snapshot_id = j.snapshot_id
    """,
)

VIEWS: tuple[View, ...] = (MOVING, UNTOLD, MIN_ISR, RACKS, STATE, UNDER_WAY, COUNT)
