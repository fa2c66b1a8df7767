"""What changed since the previous snapshot: the rows of `model.finding.Change`, one SELECT per kind."""

from kafka_audit.engine.view import View

MANY = 200
"""Leaders that moved are told per partition up to this many a snapshot, above it per broker that lost them."""

BROKERS = """
    SELECT coalesce(n.snapshot_id, p.snapshot_id) AS snapshot_id,
           if(n.broker_id IS NULL, 'broker_went', 'broker_came') AS kind,
           concat('broker/', coalesce(n.broker_id, p.broker_id)) AS resource,
           if(p.broker_id IS NULL, NULL, coalesce(e.text, 'no endpoint')) AS before,
           if(n.broker_id IS NULL, NULL, coalesce(e.text, 'no endpoint')) AS after
    FROM (SELECT * FROM registered_broker_at WHERE slot = 'now') AS n
    FULL OUTER JOIN (SELECT * FROM registered_broker_at WHERE slot = 'previous') AS p
        ON p.snapshot_id = n.snapshot_id AND p.broker_id = n.broker_id
    LEFT JOIN (SELECT snapshot_id, broker_id, slot,
                      array_join(array_sort(collect_list(concat(coalesce(concat(protocol, '://'), ''), host, ':', port))), ', ')
                          AS text
               FROM registered_endpoint_at GROUP BY snapshot_id, broker_id, slot) AS e
        ON e.snapshot_id = coalesce(n.snapshot_id, p.snapshot_id) AND e.broker_id = coalesce(n.broker_id, p.broker_id)
            AND e.slot = if(n.broker_id IS NULL, 'previous', 'now')
    WHERE (n.broker_id IS NULL) <> (p.broker_id IS NULL)
        AND coalesce(n.snapshot_id, p.snapshot_id) NOT IN (SELECT snapshot_id FROM broker_gap)
"""

# Without ZooKeeper nobody tells a listener's name: over a migration the address decides, and what has no name is not missed.
ENDPOINTS = """
    (WITH told AS (
        SELECT *, min(listener) OVER (PARTITION BY snapshot_id, broker_id) = '' AS unnamed FROM registered_endpoint_at)
    SELECT coalesce(n.snapshot_id, p.snapshot_id), 'endpoint',
           concat('broker/', coalesce(n.broker_id, p.broker_id), coalesce(concat('/listener/', nullif(coalesce(n.listener,
               p.listener), '')), '')),
           concat(coalesce(concat(p.protocol, '://'), ''), p.host, ':', p.port),
           concat(coalesce(concat(n.protocol, '://'), ''), n.host, ':', n.port)
    FROM (SELECT * FROM told WHERE slot = 'now') AS n
    FULL OUTER JOIN (SELECT * FROM told WHERE slot = 'previous') AS p
        ON p.snapshot_id = n.snapshot_id AND p.broker_id = n.broker_id
            AND (p.listener = n.listener OR (n.unnamed AND p.host = n.host AND p.port = n.port))
    JOIN (SELECT n.snapshot_id, n.broker_id FROM registered_broker_at AS n JOIN registered_broker_at AS p
              ON p.snapshot_id = n.snapshot_id AND p.broker_id = n.broker_id AND p.slot = 'previous' WHERE n.slot = 'now')
                  AS stayed
        ON stayed.snapshot_id = coalesce(n.snapshot_id, p.snapshot_id) AND stayed.broker_id = coalesce(n.broker_id, p.broker_id)
    WHERE CASE WHEN n.host IS NULL OR p.host IS NULL
                   THEN NOT (coalesce(n.unnamed, p.unnamed) AND coalesce(n.listener, p.listener) <> '')
               ELSE n.listener = p.listener AND NOT (n.host = p.host AND n.port = p.port AND n.protocol <=> p.protocol) END)
"""

# A version that only knows more settings is no change of settings: defaults are passed over unless a side set them.
CONFIGS = """
    SELECT coalesce(n.snapshot_id, p.snapshot_id), 'config',
           concat('broker/', coalesce(n.broker_id, p.broker_id), '/config/', coalesce(n.key, p.key)),
           if(p.key IS NULL, NULL, coalesce(p.value, 'hidden')), if(n.key IS NULL, NULL, coalesce(n.value, 'hidden'))
    FROM (SELECT c.* FROM broker_config AS c JOIN pair AS q ON q.snapshot_id = c.snapshot_id) AS n
    FULL OUTER JOIN (SELECT q.snapshot_id, c.* EXCEPT (snapshot_id, cluster_id) FROM broker_config AS c
                     JOIN pair AS q ON q.previous_snapshot_id = c.snapshot_id) AS p
        ON p.snapshot_id = n.snapshot_id AND p.broker_id = n.broker_id AND p.key = n.key
    JOIN (SELECT DISTINCT q.snapshot_id, n.broker_id FROM pair AS q
          JOIN broker_config AS n ON n.snapshot_id = q.snapshot_id
          JOIN broker_config AS p ON p.snapshot_id = q.previous_snapshot_id AND p.broker_id = n.broker_id) AS told
        ON told.snapshot_id = coalesce(n.snapshot_id, p.snapshot_id) AND told.broker_id = coalesce(n.broker_id, p.broker_id)
    WHERE NOT (n.value <=> p.value AND (n.key IS NULL) = (p.key IS NULL))
        AND NOT (coalesce(n.source, 5) = 5 AND coalesce(p.source, 5) = 5)
"""

CONTROLLER = """
    SELECT n.snapshot_id, 'controller', 'cluster',
           concat(coalesce(string(p.controller_id), 'none'), ' (epoch ', coalesce(string(p.controller_epoch), 'none'), ')'),
           concat(coalesce(string(n.controller_id), 'none'), ' (epoch ', coalesce(string(n.controller_epoch), 'none'), ')')
    FROM registry_at AS n JOIN registry_at AS p ON p.snapshot_id = n.snapshot_id AND p.slot = 'previous'
    WHERE n.slot = 'now' AND NOT (n.controller_id <=> p.controller_id AND n.controller_epoch <=> p.controller_epoch)
        AND n.snapshot_id NOT IN (SELECT snapshot_id FROM zookeeper_gap WHERE part = 'controller')
"""

TOPICS = """
    SELECT t.snapshot_id, if(NOT t.had, 'topic_created', if(t.has, 'topic_recreated', 'topic_deleted')), concat('topic/',
        t.topic),
           t.previous_id, t.now_id
    FROM topic_pair AS t
    LEFT JOIN read_now AS u ON u.snapshot_id = t.snapshot_id AND u.outcome = 'failed'
        AND u.operation = concat('zookeeper /brokers/topics/', t.topic)
    WHERE NOT t.same AND u.snapshot_id IS NULL AND t.snapshot_id NOT IN (SELECT snapshot_id FROM topic_gap)
"""

LEADERS = f"""
    SELECT snapshot_id, 'leader_moved',
           if(n > {MANY}, concat('broker/', previous_leader), concat('topic/', topic, '/partition/', partition)),
           if(n > {MANY}, concat('led ', count(*), ' partitions that are led by others now'), string(max(previous_leader))),
           if(n > {MANY}, NULL, string(max(leader)))
    FROM (SELECT *, count(*) OVER (PARTITION BY snapshot_id) AS n FROM partition_pair
          WHERE NOT previous_leader <=> leader AND snapshot_id NOT IN (SELECT snapshot_id FROM topic_gap))
    GROUP BY snapshot_id, n, if(n > {MANY}, concat('broker/', previous_leader), concat('topic/', topic, '/partition/',
        partition)),
             previous_leader
"""  # noqa: S608 -- a number

_KINDS = (BROKERS, ENDPOINTS, CONFIGS, CONTROLLER, TOPICS, LEADERS)

VIEWS: tuple[View, ...] = (
    View(
        name="broker_gap",
        doc="Snapshots whose registrations cannot be compared with the previous ones: either side did not read them.",
        sql="SELECT DISTINCT snapshot_id FROM zookeeper_gap WHERE part = 'brokers'",
    ),
    View(
        name="topic_gap",
        doc="Snapshots whose topics cannot be compared with the previous ones: either side did not read them as a whole.",
        sql="SELECT DISTINCT snapshot_id FROM zookeeper_gap WHERE part = 'topics' AND whole",
    ),
    View(
        name="change",
        doc="Facts that differ from the previous snapshot: columns of `Change` behind the snapshot's id.",
        sql="\nUNION ALL\n".join(_KINDS),
    ),
)
