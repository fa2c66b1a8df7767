-- Generated from differences/reference/differing_topic.sql by `make docs`.
WITH named AS (
  SELECT
    snapshot_id,
    topic
  FROM differing_entry
  WHERE
    error <> 29
  UNION ALL
  SELECT
    n.snapshot_id,
    n.topic
  FROM topic_state AS n
  JOIN topic_state AS e
    ON e.snapshot_id = n.snapshot_id AND e.topic = n.topic AND e.moment <> 'now'
  WHERE
    n.moment = 'now' AND n.topic_digest IS DISTINCT FROM e.topic_digest
  UNION ALL
  SELECT
    snapshot_id,
    topic
  FROM topic_state
  WHERE
    topic_digest IS NULL
  UNION ALL
  SELECT
    snapshot_id,
    topic
  FROM reassigned
  UNION ALL
  SELECT
    snapshot_id,
    topic
  FROM former_leader
)
SELECT DISTINCT
  snapshot_id,
  topic
FROM named
