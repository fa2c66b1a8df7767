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
    s.*,
    ROW_NUMBER() OVER (
      PARTITION BY s.snapshot_id, s.key
      ORDER BY s.filled DESC, CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END NULLS FIRST, s.topic NULLS FIRST
    ) AS place
  FROM settings AS s
  LEFT JOIN lone_topic AS o
    ON o.snapshot_id = s.snapshot_id AND o.topic = s.topic
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
