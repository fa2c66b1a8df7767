-- What topics set for themselves, by key.
WITH settings AS (
    SELECT s.snapshot_id, c.key, c.topic, max(CASE WHEN c.value <> '' AND lower(c.value) <> 'false' THEN 1 ELSE 0 END) AS filled
    FROM chosen_sample AS s
    JOIN topic_config AS c ON c.snapshot_id = s.source_id
    WHERE s.moment = 'now'
    GROUP BY s.snapshot_id, c.key, c.topic),
ranked AS (
    SELECT s.*, row_number() OVER (
               PARTITION BY s.snapshot_id, s.key ORDER BY s.filled DESC, CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END, s.topic) AS place
    FROM settings AS s
    LEFT JOIN lone_topic AS o ON o.snapshot_id = s.snapshot_id AND o.topic = s.topic)
SELECT snapshot_id, key, count(*) AS topics, sum(filled) AS filled,
       coalesce(min_by(topic, CASE WHEN filled = 1 THEN place END, 10), array()) AS first
FROM ranked
GROUP BY snapshot_id, key
