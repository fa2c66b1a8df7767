"""This snapshot beside the previous one."""

from kafka_audit.engine.view import View

PREVIOUS_GAP = View(
    name="previous_gap",
    doc="""Snapshots that cannot be compared with a previous one: there is none (NOT_APPLICABLE), or it did not read the topics
    (UNKNOWN). Single znodes that it could not read are passed over.""",
    sql="""
        SELECT snapshot_id, min(status) AS status, min(reason) AS reason, min(error) AS error, min(needs) AS needs
        FROM zookeeper_gap WHERE slot = 'previous' AND part IN ('topics', 'controller') AND whole
        GROUP BY snapshot_id
    """,
    kept="small",
)

TOPIC_PAIR = View(
    name="topic_pair",
    doc="""Topics now and in the previous snapshot. `same`: neither came, went nor was recreated in between; told by topic id,
    before Kafka 2.8 by the czxid of the znode.""",
    sql="""
        WITH n AS (SELECT * FROM registered_topic_at WHERE slot = 'now'),
        p AS (SELECT * FROM registered_topic_at WHERE slot = 'previous')
        SELECT coalesce(n.snapshot_id, p.snapshot_id) AS snapshot_id, coalesce(n.topic, p.topic) AS topic,
               p.topic IS NOT NULL AS had, n.topic IS NOT NULL AS has,
               coalesce(n.topic_id, string(n.czxid)) AS now_id, coalesce(p.topic_id, string(p.czxid)) AS previous_id,
               n.topic IS NOT NULL AND p.topic IS NOT NULL
                   AND if(n.topic_id IS NOT NULL AND p.topic_id IS NOT NULL, n.topic_id = p.topic_id, n.czxid = p.czxid) AS same
        FROM n FULL OUTER JOIN p ON p.snapshot_id = n.snapshot_id AND p.topic = n.topic
        WHERE coalesce(n.snapshot_id, p.snapshot_id) NOT IN (SELECT snapshot_id FROM previous_gap)
    """,
)

PARTITION_PAIR = View(
    name="partition_pair",
    doc="""Partitions of topics that are the same in both snapshots: leader and leader epoch then and now, and the epoch in the
    look before the newest.""",
    sql="""
        SELECT n.snapshot_id, n.topic, n.partition, p.leader AS previous_leader, n.leader, p.leader_epoch AS previous_epoch,
               n.leader_epoch, b.leader_epoch AS before_epoch
        FROM registered_partition_at AS n
        JOIN registered_partition_at AS p
            ON p.snapshot_id = n.snapshot_id AND p.topic = n.topic AND p.partition = n.partition AND p.slot = 'previous'
        JOIN topic_pair AS t ON t.snapshot_id = n.snapshot_id AND t.topic = n.topic AND t.same
        LEFT JOIN registered_partition_at AS b
            ON b.snapshot_id = n.snapshot_id AND b.topic = n.topic AND b.partition = n.partition AND b.slot = 'before'
        WHERE n.slot = 'now'
    """,
    kept="large",
)

STATE_AHEAD = View(
    name="state_ahead",
    doc="""Partition states written with a controller epoch above /controller_epoch. `settled`: the state was there before we
    began to read, or was the same in both looks.""",
    sql="""
        SELECT p.snapshot_id, p.topic, p.partition, p.controller_epoch AS written,
               coalesce(p.state_mzxid <= j.zxid_before, false)
                   OR (j.steady AND coalesce(b.state_mzxid = p.state_mzxid, false)) AS settled
        FROM registered_partition_at AS p
        JOIN judged AS j ON j.snapshot_id = p.snapshot_id AND p.controller_epoch > j.controller_epoch
        LEFT JOIN registered_partition_at AS b
            ON b.snapshot_id = p.snapshot_id AND b.slot = 'before' AND b.topic = p.topic AND b.partition = p.partition
        WHERE p.slot = 'now'
    """,
    kept="large",
)

KNOWN_BROKER = View(
    name="known_broker",
    doc="""Every broker id that the registrations of any slot, or an assignment, name: registered now, before or in the previous
    snapshot, how many partitions have a replica there, how many of those have no leader; `unreadable`: its registration failed to
    be read. In KRaft mode a broker that answers is not gone, though others may not list it.""",
    sql="""
        WITH named AS (
            SELECT snapshot_id, broker_id, slot AS source, 0 AS replicas, 0 AS leaderless FROM registered_broker_at
            UNION ALL
            SELECT v.snapshot_id, v.broker_id, v.slot, 0, 0
            FROM held_view AS v JOIN judged AS j ON j.snapshot_id = v.snapshot_id AND j.mode = 'kraft' WHERE v.broker_id >= 0
            UNION ALL
            SELECT snapshot_id, replica, 'assigned', count(*), count_if(leader = -1)
            FROM registered_partition_at LATERAL VIEW explode(replicas) r AS replica WHERE slot = 'now'
            GROUP BY snapshot_id, replica
            UNION ALL
            SELECT snapshot_id, bigint(regexp_extract(operation, '^zookeeper /brokers/ids/([0-9]{1,10})$')), 'unreadable', 0, 0
            FROM read_now
            WHERE slot = 'now' AND outcome = 'failed' AND operation RLIKE '^zookeeper /brokers/ids/[0-9]{1,10}$')
        SELECT snapshot_id, broker_id, bool_or(source = 'now') AS registered, bool_or(source = 'before') AS before,
               bool_or(source = 'previous') AS previous, bool_or(source = 'unreadable') AS unreadable,
               sum(replicas) AS replicas, sum(leaderless) AS leaderless
        FROM named GROUP BY snapshot_id, broker_id
    """,
    kept="small",
)

VIEWS: tuple[View, ...] = (PREVIOUS_GAP, TOPIC_PAIR, PARTITION_PAIR, STATE_AHEAD, KNOWN_BROKER)
