-- Generated from differences/reference/lone_topic.sql by `make docs`.
WITH lists AS (
  SELECT
    o.snapshot_id,
    o.source_id,
    o.topics_digest,
    s.kraft,
    MAX(o.holders) AS holders
  FROM observer_view AS o
  JOIN chosen_sample AS s
    ON s.snapshot_id = o.snapshot_id AND s.moment = o.moment
  WHERE
    o.moment = 'now'
  GROUP BY
    o.snapshot_id,
    o.source_id,
    o.topics_digest,
    s.kraft
), counted AS (
  SELECT
    snapshot_id,
    COUNT(*) AS lists,
    SUM(holders) AS holders
  FROM lists
  GROUP BY
    snapshot_id
), suspect AS (
  SELECT DISTINCT
    l.snapshot_id,
    v.topic
  FROM lists AS l
  JOIN counted AS c
    ON c.snapshot_id = l.snapshot_id AND c.holders > 1
  JOIN view_topic AS v
    ON v.snapshot_id = l.source_id AND v.topics_digest = l.topics_digest
  WHERE
    l.kraft AND l.holders = 1
)
SELECT
  t.snapshot_id,
  t.topic
FROM suspect AS t
JOIN lists AS l
  ON l.snapshot_id = t.snapshot_id
JOIN view_topic AS v
  ON v.snapshot_id = l.source_id
  AND v.topics_digest = l.topics_digest
  AND v.topic = t.topic
GROUP BY
  t.snapshot_id,
  t.topic
HAVING
  SUM(l.holders) = 1
UNION ALL
SELECT
  t.snapshot_id,
  t.topic
FROM lacking_topic AS t
JOIN (
  SELECT DISTINCT
    snapshot_id,
    topics_digest
  FROM lists
  WHERE
    NOT kraft
) AS l
  ON l.snapshot_id = t.snapshot_id AND l.topics_digest = t.topics_digest
JOIN counted AS c
  ON c.snapshot_id = t.snapshot_id
WHERE
  t.moment = 'now'
GROUP BY
  t.snapshot_id,
  t.topic,
  c.lists
HAVING
  COUNT(DISTINCT t.topics_digest) = c.lists
