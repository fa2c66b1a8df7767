-- Generated from differences/reference/kraft_sampled_partition.sql by `make docs`.
WITH alike AS (
  SELECT
    t.snapshot_id,
    s.source_id,
    t.topic,
    t.topic_digest,
    COUNT_IF(t.moment = 'now') > 0 AS now,
    COUNT_IF(t.moment = 'before') > 0 AS before
  FROM topic_state AS t
  JOIN chosen_sample AS s
    ON s.snapshot_id = t.snapshot_id AND s.moment = t.moment AND s.kraft
  WHERE
    t.moment <> 'previous' AND NOT t.topic_digest IS NULL
  GROUP BY
    t.snapshot_id,
    s.source_id,
    t.topic,
    t.topic_digest
)
SELECT
  a.snapshot_id,
  v.topic,
  v.partition,
  v.replicas,
  CASE v.error WHEN 72 THEN NULL WHEN 5 THEN -1 ELSE v.leader END AS leader,
  v.leader_epoch,
  TRY_CAST(NULL AS BIGINT) AS controller_epoch,
  v.isr,
  TRY_CAST(NULL AS BIGINT) AS recovery_state,
  v.leader_epoch AS version,
  FALSE AS deleting,
  a.now,
  a.before
FROM alike AS a
JOIN view_partition AS v
  ON v.snapshot_id = a.source_id
  AND v.topic_digest = a.topic_digest
  AND v.topic = a.topic
UNION ALL
SELECT
  p.snapshot_id,
  p.topic,
  p.partition,
  p.replicas,
  p.leader,
  p.leader_epoch,
  p.controller_epoch,
  p.isr,
  p.recovery_state,
  p.version,
  p.deleting,
  p.moment = 'now' AS now,
  p.moment = 'before' AS before
FROM partition_state AS p
JOIN chosen_sample AS s
  ON s.snapshot_id = p.snapshot_id AND s.moment = p.moment AND s.kraft
JOIN topic_state AS t
  ON t.snapshot_id = p.snapshot_id
  AND t.moment = p.moment
  AND t.topic = p.topic
  AND t.topic_digest IS NULL
WHERE
  p.moment <> 'previous'
