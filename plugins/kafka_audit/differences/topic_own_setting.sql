-- What the topics set for themselves that a user asks about.
SELECT s.snapshot_id, c.topic, c.key, max(c.value) AS value
FROM chosen_sample AS s
JOIN topic_config AS c ON c.snapshot_id = s.source_id
JOIN asked_topic AS a ON a.snapshot_id = s.snapshot_id AND a.topic = c.topic
WHERE s.moment = 'now'
GROUP BY s.snapshot_id, c.topic, c.key
