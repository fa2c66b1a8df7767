-- Generated from differences/topic_setting.sql by `make docs`.
WITH settings AS (
  SELECT
    s.snapshot_id,
    c.key,
    c.topic,
    MAX(CASE WHEN c.value <> '' AND LOWER(c.value) <> 'false' THEN 1 ELSE 0 END) AS filled
  FROM chosen_sample AS s
  JOIN topic_config AS c
    ON c.snapshot_id = s.source_id
  WHERE
    s.moment = 'now'
  GROUP BY
    s.snapshot_id,
    c.key,
    c.topic
), ranked AS (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY snapshot_id, key ORDER BY filled DESC, topic NULLS FIRST) AS place
  FROM settings
)
SELECT
  snapshot_id,
  key,
  COUNT(*) AS topics,
  SUM(filled) AS filled,
  COALESCE(
    LIST_TRANSFORM(
      LIST_SORT(
        ARRAY_AGG(CASE WHEN filled = 1 AND place <= 10 THEN {'place': place, 'topic': topic} END) FILTER(WHERE CASE WHEN filled = 1 AND place <= 10 THEN {'place': place, 'topic': topic} END IS NOT NULL),
        'ASC',
        'NULLS FIRST'
      ),
      LAMBDA x : x.topic
    ),
    []
  ) AS first
FROM ranked
GROUP BY
  snapshot_id,
  key
