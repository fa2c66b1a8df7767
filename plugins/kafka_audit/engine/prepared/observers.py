"""What brokers said when each was asked itself, and where that differs from ZooKeeper."""

from kafka_audit.engine.view import View

REGISTERED_LISTENER = View(
    name="registered_listener",
    doc="""Registered endpoints of both looks, with the mzxid of the registration that they are part of.""",
    sql="""
        SELECT e.snapshot_id, e.slot, e.broker_id, e.listener, e.protocol, e.host, e.port, b.mzxid, b.disputed
        FROM registered_endpoint_at AS e JOIN registered_broker_at AS b
            ON b.snapshot_id = e.snapshot_id AND b.slot = e.slot AND b.broker_id = e.broker_id
        WHERE e.slot <> 'previous'
    """,
    kept="small",
)

PARTITION_COUNT = View(
    name="partition_count",
    doc="""How many partitions ZooKeeper assigns now, and how many of them have no leader; topics in deletion left out.""",
    sql="""
        SELECT p.snapshot_id, count(*) AS partitions, count_if(p.leader = -1) AS leaderless
        FROM registered_partition_at AS p JOIN registered_topic_at AS t
            ON t.snapshot_id = p.snapshot_id AND t.slot = p.slot AND t.topic = p.topic AND NOT t.deleting
        WHERE p.slot = 'now' GROUP BY p.snapshot_id
    """,
    kept="small",
)

HELD_VIEW = View(
    name="held_view",
    doc="""Each view of both looks with who held it: `name` is the broker's id, or the address of a broker whose id nobody knows.
    An address of the cluster file that no broker registered counts as the broker that the socket says it is. `foreign`: the view
    is of another cluster, so that comparing its topics means nothing. `known_listener`: ZooKeeper registers that listener.
    `right_controller_id` and `right_cluster_id` are what ZooKeeper held in the same look. `listed`: the broker is registered.""",
    sql="""
        WITH told AS (
            SELECT v.*, r.kafka_cluster_id AS right_cluster_id, r.controller_id AS right_controller_id,
                   k.listener IS NOT NULL AS known_listener, coalesce(nullif(v.broker_id, -1), b.broker_id) AS known_id,
                   b.broker_id IS NOT NULL AS listed
            FROM broker_view_at AS v
            LEFT JOIN registry_at AS r ON r.snapshot_id = v.snapshot_id AND r.slot = v.slot
            LEFT JOIN (SELECT DISTINCT snapshot_id, slot, listener FROM registered_listener) AS k
                ON k.snapshot_id = v.snapshot_id AND k.slot = v.slot AND k.listener = v.listener
            LEFT JOIN broker_identity_at AS i
                ON i.snapshot_id = v.snapshot_id AND i.slot = v.slot AND i.broker_id = -1 AND i.address = v.address
            LEFT JOIN registered_broker_at AS b
                ON b.snapshot_id = v.snapshot_id AND b.slot = v.slot
                AND b.broker_id = if(v.broker_id >= 0, v.broker_id, i.answered_by)
                AND v.kafka_cluster_id <=> r.kafka_cluster_id
            WHERE v.slot <> 'previous')
        SELECT snapshot_id, slot, observer, coalesce(known_id, -1) AS broker_id, listener, address, kafka_cluster_id,
            controller_id,
               brokers_listed, topics_listed, brokers_digest, topics_digest, metadata_version,
               coalesce(string(known_id), substr(observer, 8)) AS name,
               coalesce(kafka_cluster_id <> right_cluster_id, false) AS foreign, known_listener, right_controller_id,
               right_cluster_id, listed
        FROM told
    """,
    kept="small",
)

ASKED_BROKER = View(
    name="asked_broker",
    doc="""Each broker and listener that was asked for its view in the newest look: answered, or the error and what it needs.""",
    sql="""
        SELECT r.snapshot_id, r.name, r.target, r.operation, r.outcome = 'answered' AS answered, r.error, r.needs
        FROM read_now AS r
        WHERE r.slot = 'now' AND r.name IS NOT NULL AND r.operation RLIKE '^(Metadata|ApiVersions)'
    """,
)

HELD_TOPICS = View(
    name="held_topics",
    doc="""Each distinct list of topics that somebody held: equal views are compared once, whoever holds them.""",
    sql="SELECT DISTINCT snapshot_id, slot, topics_digest FROM held_view WHERE NOT foreign",
)

TOPIC_DIFFERENCE = View(
    name="topic_difference",
    doc="""Topics that ZooKeeper holds and a list of topics does not (kind topic_missing), or holds only as refused
    (topic_refused), or of which nobody knows whether it is there (topic_disputed). Topics in deletion are left out, and those
    whose znode assigns no partition: brokers are told of partitions only. `basis` is what must not change between two looks.""",
    sql="""
        WITH sized AS (
            SELECT snapshot_id, slot, topic, count(*) AS partitions FROM registered_partition_at GROUP BY snapshot_id, slot,
                topic)
        SELECT h.snapshot_id, h.slot, h.topics_digest, t.topic, coalesce(s.partitions, 1) AS partitions,
               CASE WHEN t.disputed THEN 'topic_disputed' WHEN v.topic IS NULL THEN 'topic_missing' ELSE 'topic_refused' END
                   AS kind,
               string(t.mzxid) AS basis
        FROM held_topics AS h
        JOIN registered_topic_at AS t ON t.snapshot_id = h.snapshot_id AND t.slot = h.slot AND NOT t.deleting
        LEFT JOIN view_topic AS v ON v.snapshot_id = h.snapshot_id AND v.topics_digest = h.topics_digest AND v.topic = t.topic
            AND (t.czxid IS NOT NULL OR v.topic_id <=> t.topic_id)
        LEFT JOIN sized AS s ON s.snapshot_id = t.snapshot_id AND s.slot = t.slot AND s.topic = t.topic
        LEFT JOIN zookeeper_unread AS u ON u.snapshot_id = t.snapshot_id AND u.slot = 'now' AND u.part = 'topics'
        WHERE (v.topic IS NULL OR v.error = 29)
            AND (s.topic IS NOT NULL OR u.snapshot_id IS NOT NULL OR t.czxid IS NULL)
    """,
    kept="large",
)

OBSERVER = View(
    name="observer",
    doc="""Every broker whose view was wanted: those registered now, and those that answered at an address of the cluster file.
    `answered`: there is a view of this cluster in the newest look; else `error` and `needs` say why not. `topics_error` and
    `brokers_error` (with `_needs`) say why its topics or its list of brokers cannot be compared: nothing must pass for lack of
    rows. `partitions` counts what ZooKeeper assigns, `listed` how many of them are of topics in its view, `brokers` what is
    registered; topics in deletion are left out. `told`: it said something, be it of another cluster. `holders` as in
    `judged`.""",
    sql="""
        WITH wanted AS (
            SELECT snapshot_id, string(broker_id) AS name, true AS registered FROM registered_broker_at WHERE slot = 'now'
            UNION ALL
            SELECT snapshot_id, name, false FROM held_view WHERE slot = 'now'),
        named AS (
            SELECT snapshot_id, name, registered, count_if(registered) OVER (PARTITION BY snapshot_id) AS brokers
            FROM (SELECT snapshot_id, name, bool_or(registered) AS registered FROM wanted GROUP BY snapshot_id, name)),
        held AS (
            SELECT v.snapshot_id, v.name, bool_and(v.foreign) AS foreign, min(v.kafka_cluster_id) AS kafka_cluster_id,
                   bool_or(v.known_listener) AS known_listener, min(v.brokers_listed) AS brokers_listed,
                   max(coalesce(m.n, 0)) AS missing, array_join(array_sort(collect_set(v.listener)), ', ') AS listeners
            FROM held_view AS v
            LEFT JOIN (SELECT snapshot_id, topics_digest, sum(partitions) AS n FROM topic_difference WHERE slot = 'now'
                       GROUP BY snapshot_id, topics_digest) AS m
                ON m.snapshot_id = v.snapshot_id AND m.topics_digest = v.topics_digest
            WHERE v.slot = 'now' GROUP BY v.snapshot_id, v.name),
        refused AS (
            SELECT snapshot_id, name, min_by(error, operation) AS error, min_by(needs, operation) AS needs
            FROM asked_broker WHERE NOT answered GROUP BY snapshot_id, name),
        compared AS (
            SELECT n.snapshot_id, n.name, n.registered, n.brokers, coalesce(p.partitions, 0) AS partitions,
                   coalesce(p.partitions, 0) - h.missing AS listed, h.listeners, h.brokers_listed, h.known_listener,
                   h.name IS NOT NULL AS told, h.kafka_cluster_id, j.kafka_cluster_id AS right_cluster_id, j.expect_cluster_id,
                   j.controller_id AS right_controller_id, j.holders, h.name IS NOT NULL AND NOT h.foreign AS answered,
                   CASE WHEN h.foreign THEN concat('its view is of cluster ', h.kafka_cluster_id)
                        WHEN h.name IS NULL THEN coalesce(r.error, 'it was not asked') END AS error,
                   CASE WHEN h.foreign THEN 'a broker of this cluster at that address'
                        WHEN h.name IS NULL THEN coalesce(r.needs, concat('an answer of broker ', n.name,
                            ' to Metadata')) END AS needs
            FROM named AS n
            JOIN judged AS j ON j.snapshot_id = n.snapshot_id
            LEFT JOIN held AS h ON h.snapshot_id = n.snapshot_id AND h.name = n.name
            LEFT JOIN refused AS r ON r.snapshot_id = n.snapshot_id AND r.name = n.name
            LEFT JOIN partition_count AS p ON p.snapshot_id = n.snapshot_id)
        SELECT snapshot_id, name, concat('broker/', name) AS resource, concat('broker ', name) AS who, registered, answered,
               listeners, error, needs, brokers, partitions, listed, told, kafka_cluster_id, right_controller_id, holders,
               coalesce(right_cluster_id, expect_cluster_id) AS right_cluster_id,
               CASE WHEN error IS NOT NULL THEN error
                    WHEN holders IS NOT NULL AND partitions = 0 THEN 'no view lists a topic'
                    WHEN listed = 0 AND partitions > 0 THEN concat('its view lists none of ', partitions, ' partitions') END
                   AS topics_error,
               CASE WHEN error IS NOT NULL THEN needs
                    WHEN holders IS NOT NULL AND partitions = 0 THEN 'Describe on Topic, where there are topics'
                    WHEN listed = 0 AND partitions > 0 THEN 'a view with topics in it, see KA107' END AS topics_needs,
               CASE WHEN error IS NOT NULL THEN error
                    WHEN brokers_listed = 0 THEN 'its view lists no broker'
                    WHEN NOT known_listener THEN 'it was asked on a listener that is not registered' END AS brokers_error,
               CASE WHEN error IS NOT NULL THEN needs
                    WHEN brokers_listed = 0 THEN 'a view with brokers in it, see KA105'
                    WHEN NOT known_listener THEN 'an answer on a registered listener' END AS brokers_needs
        FROM compared
    """,
    kept="small",
)

PARTITION_DIFFERENCE = View(
    name="partition_difference",
    doc="""Partitions of which a distinct topic content says something else than ZooKeeper, one row per kind:
    leader (stale), leader_ahead (its epoch is above ZooKeeper's: our reads raced; in KRaft not below the newest), no_leader
    (error 5 although ZooKeeper's leader is registered), listener_missing (error 72), partition_missing, replicas, isr (another
    ISR of the same leader and epoch). A lower epoch with the same leader is harmless.""",
    sql="""
        WITH content AS (
            SELECT DISTINCT h.snapshot_id, h.slot, v.topic, v.topic_digest, t.mzxid, t.czxid IS NULL AS among_brokers
            FROM held_topics AS h JOIN view_topic AS v ON v.snapshot_id = h.snapshot_id AND v.topics_digest = h.topics_digest
            JOIN registered_topic_at AS t
                ON t.snapshot_id = h.snapshot_id AND t.slot = h.slot AND t.topic = v.topic AND NOT t.deleting
                AND (t.czxid IS NOT NULL OR v.topic_id <=> t.topic_id)
            WHERE v.error <> 29),
        alive AS (
            SELECT snapshot_id, slot, collect_set(broker_id) AS ids FROM registered_broker_at GROUP BY snapshot_id, slot),
        both AS (
            SELECT c.snapshot_id, c.slot, c.topic_digest, z.topic, z.partition, z.leader, z.state_mzxid, c.mzxid,
                   c.among_brokers, z.leader_epoch, v.partition IS NOT NULL AS listed, v.error, v.leader AS said_leader,
                   v.leader_epoch AS said_epoch, array_sort(z.replicas) AS replicas, array_sort(v.replicas) AS said_replicas,
                   array_sort(z.isr) AS isr, array_sort(v.isr) AS said_isr,
                   array_contains(a.ids, z.leader) AS leader_registered
            FROM content AS c
            JOIN registered_partition_at AS z ON z.snapshot_id = c.snapshot_id AND z.slot = c.slot AND z.topic = c.topic
            LEFT JOIN alive AS a ON a.snapshot_id = c.snapshot_id AND a.slot = c.slot
            LEFT JOIN view_partition AS v ON v.snapshot_id = c.snapshot_id AND v.topic_digest = c.topic_digest
                AND v.topic = z.topic AND v.partition = z.partition)
        SELECT b.snapshot_id, b.slot, b.topic_digest, b.topic, b.partition, b.leader, k.kind, k.zookeeper, k.said, k.basis
        FROM both AS b LATERAL VIEW inline(filter(array(
            named_struct('kind', CASE WHEN NOT b.listed THEN 'partition_missing'
                                      WHEN b.error = 72 THEN 'listener_missing'
                                      WHEN b.error = 5 AND b.leader_registered THEN 'no_leader'
                                      WHEN b.error = 5 OR b.leader IS NULL OR b.said_leader = b.leader THEN NULL
                                      WHEN b.said_epoch > b.leader_epoch
                                          OR (b.among_brokers AND b.said_epoch = b.leader_epoch) THEN 'leader_ahead'
                                      ELSE 'leader' END,
                         'zookeeper', concat('leader ', coalesce(string(b.leader), 'none'),
                                             coalesce(concat(', epoch ', b.leader_epoch), '')),
                         'said', CASE WHEN NOT b.listed THEN 'partition not listed'
                                      WHEN b.error = 72 THEN 'error 72 LISTENER_NOT_FOUND'
                                      WHEN b.error = 5 THEN 'error 5 LEADER_NOT_AVAILABLE'
                                      ELSE concat('leader ', b.said_leader, coalesce(concat(', epoch ', b.said_epoch), '')) END,
                         'basis', concat_ws('/', b.state_mzxid, b.mzxid)),
            named_struct('kind', if(b.listed AND b.replicas <> b.said_replicas, 'replicas', NULL),
                         'zookeeper', concat('replicas ', array_join(b.replicas, ', ')),
                         'said', concat('replicas ', array_join(b.said_replicas, ', ')),
                         'basis', concat_ws('/', b.state_mzxid, b.mzxid)),
            named_struct('kind', if(b.listed AND b.error = 0 AND b.leader = b.said_leader AND b.isr <> b.said_isr
                                    AND coalesce(b.leader_epoch = b.said_epoch, true), 'isr', NULL),
                         'zookeeper', concat('ISR ', array_join(b.isr, ', ')),
                         'said', concat('ISR ', array_join(b.said_isr, ', ')),
                         'basis', concat_ws('/', b.state_mzxid, b.mzxid))), x -> x.kind IS NOT NULL)) k
    """,
    kept="large",
)

VIEWS: tuple[View, ...] = (
    REGISTERED_LISTENER,
    PARTITION_COUNT,
    HELD_VIEW,
    ASKED_BROKER,
    HELD_TOPICS,
    TOPIC_DIFFERENCE,
    OBSERVER,
    PARTITION_DIFFERENCE,
)
