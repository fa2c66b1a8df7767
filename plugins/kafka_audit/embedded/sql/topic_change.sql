-- Generated from differences/topic_change.sql by `make docs`.
WITH now AS (
  SELECT
    t.snapshot_id,
    t.topic,
    t.topic_id,
    t.created
  FROM topic_state AS t
  JOIN chosen_sample AS s
    ON s.snapshot_id = t.snapshot_id AND s.moment = 'previous'
  WHERE
    t.moment = 'now'
), previous AS (
  SELECT
    snapshot_id,
    topic,
    topic_id,
    created
  FROM topic_state
  WHERE
    moment = 'previous'
), changed AS (
  SELECT
    COALESCE(n.snapshot_id, p.snapshot_id) AS snapshot_id,
    COALESCE(n.topic, p.topic) AS topic,
    CASE
      WHEN p.topic IS NULL
      THEN 'created'
      WHEN n.topic IS NULL
      THEN 'deleted'
      ELSE 'recreated'
    END AS kind,
    COALESCE(p.topic_id, TRY_CAST(p.created AS TEXT)) AS before,
    COALESCE(n.topic_id, TRY_CAST(n.created AS TEXT)) AS after
  FROM now AS n
  FULL OUTER JOIN previous AS p
    ON p.snapshot_id = n.snapshot_id AND p.topic = n.topic
  WHERE
    n.topic IS NULL
    OR p.topic IS NULL
    OR CASE
      WHEN n.topic_id IS NULL OR p.topic_id IS NULL
      THEN n.created <> p.created
      ELSE n.topic_id <> p.topic_id
    END
), ranked AS (
  SELECT
    c.*,
    ROW_NUMBER() OVER (
      PARTITION BY c.snapshot_id
      ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END NULLS FIRST, c.topic NULLS FIRST
    ) AS place
  FROM changed AS c
  LEFT JOIN lone_topic AS o
    ON o.snapshot_id = c.snapshot_id AND o.topic = c.topic
)
SELECT
  snapshot_id,
  kind,
  topic,
  before,
  after
FROM ranked
WHERE
  place <= 1000
