-- Generated from differences/reference/same_topic.sql by `make docs`.
SELECT
  n.snapshot_id,
  n.topic,
  d.topic IS NULL AS alike
FROM topic_state AS n
JOIN topic_state AS p
  ON p.snapshot_id = n.snapshot_id AND p.topic = n.topic AND p.moment = 'previous'
LEFT JOIN differing_topic AS d
  ON d.snapshot_id = n.snapshot_id AND d.topic = n.topic
WHERE
  n.moment = 'now'
  AND CASE
    WHEN n.topic_id IS NULL OR p.topic_id IS NULL
    THEN n.created = p.created
    ELSE n.topic_id = p.topic_id
  END
