-- Generated from differences/list_age.sql by `make docs`.
WITH listed AS (
  SELECT
    l.snapshot_id,
    l.moment,
    l.source_id,
    l.topics_digest,
    t.topic,
    t.topic_id,
    t.topic_digest
  FROM reference_list AS l
  JOIN view_topic AS t
    ON t.snapshot_id = l.source_id AND t.topics_digest = l.topics_digest
), lists AS (
  SELECT
    snapshot_id,
    moment,
    COUNT(DISTINCT topics_digest) AS lists
  FROM listed
  GROUP BY
    snapshot_id,
    moment
), differing AS (
  SELECT
    t.snapshot_id,
    t.moment,
    t.topic,
    t.topic_id
  FROM listed AS t
  JOIN lists AS l
    ON l.snapshot_id = t.snapshot_id AND l.moment = t.moment
  GROUP BY
    t.snapshot_id,
    t.moment,
    t.topic,
    t.topic_id,
    l.lists
  HAVING
    COUNT(*) = l.lists AND MIN(t.topic_digest) < MAX(t.topic_digest)
)
SELECT
  t.snapshot_id,
  t.moment,
  t.topics_digest,
  SUM(p.leader_epoch + 1) AS age
FROM differing AS d
JOIN listed AS t
  ON t.snapshot_id = d.snapshot_id
  AND t.moment = d.moment
  AND t.topic = d.topic
  AND t.topic_id IS NOT DISTINCT FROM d.topic_id
JOIN view_partition AS p
  ON p.snapshot_id = t.source_id
  AND p.topic_digest = t.topic_digest
  AND p.topic = t.topic
GROUP BY
  t.snapshot_id,
  t.moment,
  t.topics_digest
HAVING
  NOT SUM(p.leader_epoch + 1) IS NULL
