-- Generated from differences/reference/kraft_partition.sql by `make docs`.
WITH content AS (
  SELECT
    l.snapshot_id,
    l.moment,
    l.source_id,
    t.topic,
    t.topic_digest,
    MIN(l.place) AS place
  FROM reference_list AS l
  JOIN view_topic AS t
    ON t.snapshot_id = l.source_id AND t.topics_digest = l.topics_digest
  JOIN topic_state AS r
    ON r.snapshot_id = l.snapshot_id
    AND r.moment = l.moment
    AND r.topic = t.topic
    AND r.topic_id IS NOT DISTINCT FROM t.topic_id
  JOIN differing_topic AS d
    ON d.snapshot_id = l.snapshot_id AND d.topic = t.topic
  GROUP BY
    l.snapshot_id,
    l.moment,
    l.source_id,
    t.topic,
    t.topic_digest
), ranked AS (
  SELECT
    c.snapshot_id,
    c.moment,
    v.topic,
    v.partition,
    v.replicas,
    v.leader,
    v.error,
    v.leader_epoch,
    v.isr,
    ROW_NUMBER() OVER (
      PARTITION BY c.snapshot_id, c.moment, v.topic, v.partition
      ORDER BY COALESCE(v.leader_epoch, -1) DESC, CASE WHEN v.error = 0 THEN 0 ELSE 1 END NULLS FIRST, c.place NULLS FIRST, v.topic_digest DESC
    ) AS age
  FROM content AS c
  JOIN view_partition AS v
    ON v.snapshot_id = c.source_id
    AND v.topic_digest = c.topic_digest
    AND v.topic = c.topic
)
SELECT
  snapshot_id,
  moment,
  topic,
  partition,
  replicas,
  CASE error WHEN 72 THEN NULL WHEN 5 THEN -1 ELSE leader END AS leader,
  leader_epoch,
  TRY_CAST(NULL AS BIGINT) AS controller_epoch,
  isr,
  TRY_CAST(NULL AS BIGINT) AS recovery_state,
  leader_epoch AS version,
  FALSE AS deleting
FROM ranked
WHERE
  age = 1
