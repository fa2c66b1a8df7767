-- Generated from differences/reference/kraft_topic.sql by `make docs`.
SELECT
  l.snapshot_id,
  l.moment,
  t.topic,
  MAX(CASE WHEN l.place = 1 THEN t.topic_id END) AS topic_id,
  TRY_CAST(NULL AS BIGINT) AS created,
  TRY_CAST(NULL AS BIGINT) AS version,
  FALSE AS deleting,
  COUNT_IF(l.place = 1) < MAX(l.tied)
  OR COALESCE(
    MIN(CASE WHEN l.place = 1 THEN t.topic_id END) < MAX(CASE WHEN l.place = 1 THEN t.topic_id END),
    FALSE
  ) AS disputed,
  CASE WHEN MIN(t.topic_digest) = MAX(t.topic_digest) THEN MAX(t.topic_digest) END AS topic_digest
FROM reference_list AS l
JOIN view_topic AS t
  ON t.snapshot_id = l.source_id AND t.topics_digest = l.topics_digest
WHERE
  t.error <> 29
GROUP BY
  l.snapshot_id,
  l.moment,
  t.topic
HAVING
  COUNT_IF(l.place = 1) > 0
