-- Topics that are marked for deletion, whether they were in the previous snapshot, and which brokers with replicas are away.
WITH marked AS (
    SELECT n.snapshot_id, n.topic,
           coalesce(p.deleting
               AND CASE WHEN n.topic_id IS NULL OR p.topic_id IS NULL THEN n.created = p.created
                        ELSE n.topic_id = p.topic_id END, false) AS before
    FROM topic_state AS n
    LEFT JOIN topic_state AS p ON p.snapshot_id = n.snapshot_id AND p.moment = 'previous' AND p.topic = n.topic
    WHERE n.moment = 'now' AND n.deleting),
ranked AS (
    SELECT m.*, row_number() OVER (
               PARTITION BY m.snapshot_id ORDER BY CASE WHEN m.before THEN 0 ELSE 1 END, CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END,
                   m.topic) AS place
    FROM marked AS m
    LEFT JOIN lone_topic AS o ON o.snapshot_id = m.snapshot_id AND o.topic = m.topic),
assigned AS (
    SELECT DISTINCT p.snapshot_id, p.topic, explode(p.replicas) AS broker_id
    FROM marked AS m
    JOIN sampled_partition AS p ON p.snapshot_id = m.snapshot_id AND p.topic = m.topic AND p.now),
registered AS (
    SELECT snapshot_id, broker_id FROM known_broker WHERE moment = 'now'),
away AS (
    SELECT a.snapshot_id, a.topic, sort_array(collect_set(a.broker_id)) AS brokers
    FROM assigned AS a
    JOIN (SELECT DISTINCT snapshot_id FROM registered) AS r ON r.snapshot_id = a.snapshot_id
    LEFT JOIN registered AS k ON k.snapshot_id = a.snapshot_id AND k.broker_id = a.broker_id
    WHERE k.broker_id IS NULL
    GROUP BY a.snapshot_id, a.topic)
SELECT m.snapshot_id, m.topic, m.before, coalesce(a.brokers, array()) AS unregistered
FROM ranked AS m
LEFT JOIN away AS a ON a.snapshot_id = m.snapshot_id AND a.topic = m.topic
WHERE m.place <= 1000
