-- Generated from differences/reference/differing_entry.sql by `make docs`.
WITH lists AS (
  SELECT DISTINCT
    snapshot_id,
    moment,
    source_id,
    topics_digest
  FROM observer_view
), odd AS (
  SELECT DISTINCT
    snapshot_id,
    topic_digest,
    topic
  FROM view_partition
  WHERE
    error <> 0
)
SELECT
  l.snapshot_id,
  l.moment,
  l.source_id,
  l.topics_digest,
  t.topic,
  t.version,
  t.created IS NULL AS among_brokers,
  t.disputed,
  v.topic_digest,
  v.error
FROM lists AS l
JOIN topic_state AS t
  ON t.snapshot_id = l.snapshot_id AND t.moment = l.moment AND NOT t.deleting
LEFT JOIN view_topic AS v
  ON v.snapshot_id = l.source_id
  AND v.topics_digest = l.topics_digest
  AND v.topic = t.topic
  AND (
    NOT t.created IS NULL OR v.topic_id IS NOT DISTINCT FROM t.topic_id
  )
LEFT JOIN odd AS o
  ON o.snapshot_id = v.snapshot_id
  AND o.topic_digest = v.topic_digest
  AND o.topic = v.topic
WHERE
  v.topic IS NULL
  OR v.error = 29
  OR v.topic_digest IS DISTINCT FROM t.topic_digest
  OR NOT o.topic IS NULL
