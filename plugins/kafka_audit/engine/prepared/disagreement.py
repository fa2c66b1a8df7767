"""Who disagrees with ZooKeeper about what, and whether that lasts: the one comparison that all 1xx checks read."""

from kafka_audit.engine.view import View

SETTING = View(
    name="broker_setting",
    doc="""The settings of each broker that other views need, null where DescribeConfigs was not answered or hides them.
    `authorizer` is an empty text where the broker told that it has none. An unset key of a known name comes back as null by
    default.""",
    sql="""
        SELECT c.snapshot_id, c.broker_id,
               max(CASE WHEN c.key = 'authorizer.class.name'
                        THEN if(c.value IS NULL AND c.source = 5 AND NOT c.sensitive, '', c.value) END) AS authorizer,
               max(if(c.key = 'inter.broker.listener.name' AND c.value <> '', c.value, NULL)) AS listener_name,
               max(if(c.key = 'security.inter.broker.protocol' AND c.value <> '', c.value, NULL)) AS protocol,
               max(if(c.key = 'min.insync.replicas', try_cast(c.value AS BIGINT), NULL)) AS min_isr
        FROM broker_config AS c JOIN pair AS p ON p.snapshot_id = c.snapshot_id
        GROUP BY c.snapshot_id, c.broker_id
    """,
    kept="small",
)

HIDDEN = View(
    name="hidden_topic",
    doc="""Topics that are in no view at all, empty views left out: Metadata passes over a topic that the auditor may not
    describe, so where there is an authorizer this is no evidence against the broker.""",
    sql="""
        WITH filled AS (
            SELECT DISTINCT snapshot_id, slot, topics_digest FROM held_view WHERE NOT foreign AND brokers_listed > 0),
        counted AS (SELECT snapshot_id, slot, count(*) AS n FROM filled GROUP BY snapshot_id, slot)
        SELECT d.snapshot_id, d.slot, d.topic
        FROM topic_difference AS d
        JOIN filled AS f ON f.snapshot_id = d.snapshot_id AND f.slot = d.slot AND f.topics_digest = d.topics_digest
        JOIN counted AS c ON c.snapshot_id = d.snapshot_id AND c.slot = d.slot
        GROUP BY d.snapshot_id, d.slot, d.topic, c.n HAVING count(*) = c.n
    """,
)

_COLUMNS = "v.snapshot_id, v.slot, v.name, v.observer, v.broker_id, v.listener"

CLAIM = View(
    name="claim",
    doc="""Everything that a view says differently from ZooKeeper, in either look. `subject` is the broker it is about, if any;
    `weight` counts partitions. Kinds: those of `topic_difference` and `partition_difference`, topic_hidden, empty_view (lists
    no broker at all), broker_missing, broker_disputed, endpoint, unlisted (KRaft: it answers, and the newest views do not list
    it), controller, controller_untold, cluster_id, cluster_untold.""",
    sql=f"""
        WITH own AS (SELECT * FROM held_view WHERE NOT foreign)
        SELECT {_COLUMNS}, d.topic, d.partition,
               if(d.kind IN ('no_leader', 'listener_missing'), d.leader, NULL) AS subject, 1 AS weight,
               -- Below Metadata v6 a leader without the listener is told as error 5 too.
               if(d.kind = 'no_leader' AND v.metadata_version < 6 AND v.known_listener AND e.broker_id IS NULL,
                  'listener_missing', d.kind) AS kind, d.zookeeper, d.said, d.basis
        FROM own AS v
        JOIN view_topic AS t ON t.snapshot_id = v.snapshot_id AND t.topics_digest = v.topics_digest
        JOIN partition_difference AS d ON d.snapshot_id = v.snapshot_id AND d.slot = v.slot
            AND d.topic_digest = t.topic_digest AND d.topic = t.topic
        LEFT JOIN registered_listener AS e ON e.snapshot_id = v.snapshot_id AND e.slot = v.slot AND e.broker_id = d.leader
            AND e.listener = v.listener
        UNION ALL
        SELECT {_COLUMNS}, d.topic, NULL, NULL, d.partitions,
               CASE WHEN d.kind = 'topic_refused' OR (h.topic IS NOT NULL AND v.brokers_listed > 0
                   AND s.authorizer IS DISTINCT FROM '')
                    THEN 'topic_hidden' ELSE d.kind END,
               'topic', 'not listed', d.basis
        FROM own AS v
        JOIN topic_difference AS d ON d.snapshot_id = v.snapshot_id AND d.slot = v.slot AND d.topics_digest = v.topics_digest
        LEFT JOIN hidden_topic AS h ON h.snapshot_id = v.snapshot_id AND h.slot = v.slot AND h.topic = d.topic
        LEFT JOIN broker_setting AS s ON s.snapshot_id = v.snapshot_id AND s.broker_id = v.broker_id
        UNION ALL
        SELECT {_COLUMNS}, NULL, NULL, if(v.brokers_listed = 0, NULL, e.broker_id), 1,
               CASE WHEN b.broker_id IS NOT NULL THEN 'endpoint' WHEN v.brokers_listed = 0 THEN 'empty_view'
                    WHEN e.disputed THEN 'broker_disputed' ELSE 'broker_missing' END,
               if(v.brokers_listed = 0, 'brokers registered', concat(e.host, ':', e.port)),
               coalesce(concat(b.host, ':', b.port), 'not listed'), if(v.brokers_listed = 0, '', string(e.mzxid))
        FROM own AS v
        JOIN registered_listener AS e ON e.snapshot_id = v.snapshot_id AND e.slot = v.slot
            AND (e.listener = v.listener OR NOT v.known_listener)
        LEFT JOIN view_broker AS b ON b.snapshot_id = v.snapshot_id AND b.brokers_digest = v.brokers_digest
            AND b.broker_id = e.broker_id
        WHERE b.broker_id IS NULL OR (e.listener = v.listener AND (lower(b.host) <> lower(e.host) OR b.port <> e.port))
        UNION ALL
        SELECT {_COLUMNS}, NULL, NULL, NULL, 1, k.kind, k.zookeeper, k.said, ''
        FROM held_view AS v JOIN judged AS j ON j.snapshot_id = v.snapshot_id
        LATERAL VIEW inline(filter(array(
            named_struct('kind', CASE WHEN v.foreign OR v.right_controller_id IS NULL OR v.controller_id = v.right_controller_id
                                      THEN NULL WHEN v.controller_id IS NULL THEN 'controller_untold' ELSE 'controller' END,
                         'zookeeper', concat('controller ', v.right_controller_id), 'said', concat('controller ',
                             v.controller_id)),
            named_struct('kind', CASE WHEN coalesce(v.right_cluster_id, j.expect_cluster_id) IS NULL THEN NULL
                                      WHEN v.kafka_cluster_id IS NULL THEN 'cluster_untold'
                                      WHEN v.kafka_cluster_id <> v.right_cluster_id
                                          OR v.kafka_cluster_id <> j.expect_cluster_id THEN 'cluster_id' END,
                         'zookeeper', if(v.kafka_cluster_id <> v.right_cluster_id, v.right_cluster_id, j.expect_cluster_id),
                         'said', v.kafka_cluster_id),
            named_struct('kind', if(j.mode = 'kraft' AND v.right_cluster_id IS NOT NULL AND v.brokers_listed > 0
                                    AND v.broker_id >= 0 AND NOT v.foreign AND NOT v.listed, 'unlisted', NULL),
                         'zookeeper', 'not listed', 'said', 'answers')), x -> x.kind IS NOT NULL)) k
    """,  # noqa: S608 -- a list of columns, written above
)

DISAGREEMENT = View(
    name="disagreement",
    doc="""Claims of the newest look. `settled`: the look before it had the very same, and nothing that it rests on was written in
    between. What a broker did not tell (topic_hidden, leader_ahead, *_untold), and what no order of views tells (*_disputed),
    never settles: it is no difference.""",
    sql="""
        SELECT c.snapshot_id, c.name, c.observer, c.broker_id, c.listener, c.topic, c.partition, c.subject, c.kind, c.zookeeper,
               c.said, max(c.weight) AS weight,
               bool_or(c.slot = 'before') AND first(j.steady)
                   AND c.kind NOT IN ('topic_hidden', 'leader_ahead', 'controller_untold', 'cluster_untold', 'topic_disputed',
                                      'broker_disputed') AS settled
        FROM claim AS c JOIN judged AS j ON j.snapshot_id = c.snapshot_id
        GROUP BY c.snapshot_id, c.name, c.observer, c.broker_id, c.listener, c.topic, c.partition, c.subject, c.kind, c.zookeeper,
                 c.said, c.basis
        HAVING bool_or(c.slot = 'now')
    """,
    kept="large",
)

SUMMARY = View(
    name="observer_matter",
    doc="""Every observer once for each matter that views are compared in (leader, no_leader, listener, broker, endpoint,
    assignment, isr, controller, cluster): the columns of `observer`, and what it says differently there. `status` is FAIL where
    some of that is settled, and then only that counts; UNKNOWN with `doubt` and `doubt_needs` where nothing is; null where there
    is no difference. `n` counts partitions or brokers, `which` names the first ten, `subjects` the brokers concerned; `zookeeper`
    and `said` are the two sides of the first, `on_listeners` where it was said. `empty`: the view lists no broker at all;
    `unlisted`: it misses nothing, the newest views do not list its broker.""",
    sql="""
        WITH sorted AS (
            SELECT *, CASE WHEN kind IN ('leader', 'leader_ahead') THEN 'leader'
                           WHEN kind = 'no_leader' THEN 'no_leader'
                           WHEN kind = 'listener_missing' THEN 'listener'
                           WHEN kind IN ('empty_view', 'broker_missing', 'broker_disputed', 'unlisted') THEN 'broker'
                           WHEN kind = 'endpoint' THEN 'endpoint'
                           WHEN kind = 'isr' THEN 'isr'
                           WHEN kind LIKE 'controller%' THEN 'controller'
                           WHEN kind LIKE 'cluster%' THEN 'cluster'
                           ELSE 'assignment' END AS matter,
                   CASE WHEN settled THEN 1
                        WHEN kind IN ('topic_hidden', 'leader_ahead', 'controller_untold', 'cluster_untold', 'topic_disputed',
                                      'broker_disputed') THEN 3
                        ELSE 2 END AS tier
            FROM disagreement),
        once AS (
            SELECT snapshot_id, name, matter, tier, kind, topic, partition, subject, min(struct(zookeeper, said)) AS sides,
                   max(weight) AS weight, collect_set(listener) AS listeners
            FROM sorted GROUP BY snapshot_id, name, matter, tier, kind, topic, partition, subject),
        counted AS (
            SELECT snapshot_id, name, matter, tier, sum(weight) AS n, bool_or(kind = 'empty_view') AS empty,
                   bool_and(kind = 'unlisted') AS unlisted, min(kind) AS kind,
                   array_sort(collect_list(struct(topic, partition, subject))) AS items,
                   array_sort(collect_set(subject)) AS subjects,
                   min_by(sides, struct(topic, partition, subject)) AS sides,
                   array_join(array_sort(array_distinct(flatten(collect_list(listeners)))), ', ') AS listeners
            FROM once GROUP BY snapshot_id, name, matter, tier),
        best AS (
            SELECT *, row_number() OVER (PARTITION BY snapshot_id, name, matter ORDER BY tier) AS place FROM counted)
        SELECT o.*, m.matter, if(d.tier = 1, 'FAIL', if(d.tier IS NULL, NULL, 'UNKNOWN')) AS status, d.n, d.empty, d.unlisted,
               coalesce(d.listeners, o.listeners) AS on_listeners,
               array_join(transform(slice(d.items, 1, 10), i -> coalesce(concat_ws('-', i.topic, i.partition), '')), ', ')
                   AS which,
               array_join(slice(d.subjects, 1, 10), ', ') AS subjects, d.sides.zookeeper, d.sides.said,
               CASE WHEN d.tier = 1 THEN NULL WHEN d.tier = 2 THEN 'in motion'
                    WHEN d.kind = 'topic_hidden' THEN concat('topics for ', d.n, ' partitions are in no view')
                    WHEN d.kind LIKE '%disputed' THEN 'views differ, and nothing shows which of them is the newer'
                    WHEN d.kind = 'leader_ahead' AND o.holders IS NULL
                        THEN 'its leader epoch is above the one that ZooKeeper holds'
                    WHEN d.kind = 'leader_ahead' THEN 'brokers name different leaders with one leader epoch'
                    WHEN d.tier = 3 THEN 'it does not say' END AS doubt,
               CASE WHEN d.tier = 1 THEN NULL
                    WHEN d.tier = 2 THEN 'another audit: this was seen once, or what it rests on changed between two looks'
                    WHEN d.kind = 'topic_hidden' THEN 'Describe on Topic'
                    WHEN d.kind LIKE '%disputed' THEN 'the view of one more broker'
                    WHEN d.kind = 'leader_ahead' THEN 'another audit'
                    WHEN d.tier = 3 THEN 'a broker that answers Metadata v2 or later' END AS doubt_needs
        FROM observer AS o
        CROSS JOIN (VALUES ('leader'), ('no_leader'), ('listener'), ('broker'), ('endpoint'), ('assignment'), ('isr'),
                           ('controller'), ('cluster')) AS m(matter)
        LEFT JOIN best AS d ON d.snapshot_id = o.snapshot_id AND d.name = o.name AND d.matter = m.matter AND d.place = 1
    """,
    kept="small",
)

VIEWS: tuple[View, ...] = (SETTING, HIDDEN, CLAIM, DISAGREEMENT, SUMMARY)
