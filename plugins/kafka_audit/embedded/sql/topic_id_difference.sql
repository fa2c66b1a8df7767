-- Generated from differences/topic_id_difference.sql by `make docs`.
WITH lists AS (
  SELECT DISTINCT
    snapshot_id,
    moment,
    source_id,
    topics_digest
  FROM observer_view
), compared AS (
  SELECT
    l.snapshot_id,
    t.topic,
    t.topic_id AS reference_id,
    v.topic_id AS view_id,
    t.topic_id IS DISTINCT FROM v.topic_id AS differs,
    COUNT_IF(l.moment = 'before') > 0 AND NOT t.version IS NULL AS same_before
  FROM lists AS l
  JOIN view_topic AS v
    ON v.snapshot_id = l.source_id
    AND v.topics_digest = l.topics_digest
    AND NOT v.topic_id IS NULL
  JOIN topic_state AS t
    ON t.snapshot_id = l.snapshot_id
    AND t.moment = l.moment
    AND t.topic = v.topic
    AND NOT t.deleting
  GROUP BY
    l.snapshot_id,
    t.topic,
    t.version,
    t.topic_id,
    v.topic_id
  HAVING
    COUNT_IF(l.moment = 'now') > 0
), repeating AS (
  SELECT
    c.*,
    s.steady AND c.same_before AS repeated
  FROM compared AS c
  JOIN chosen_sample AS s
    ON s.snapshot_id = c.snapshot_id AND s.moment = 'now'
), counted AS (
  SELECT
    snapshot_id,
    COUNT(DISTINCT topic) AS compared,
    COUNT_IF(differs AND repeated) AS differing,
    COUNT_IF(differs AND NOT repeated) AS unrepeated,
    COUNT_IF(differs AND repeated AND NOT reference_id IS NULL) > 0 AS other_id
  FROM repeating
  GROUP BY
    snapshot_id
), ranked AS (
  SELECT
    r.snapshot_id,
    r.topic,
    r.reference_id,
    r.view_id,
    ROW_NUMBER() OVER (
      PARTITION BY r.snapshot_id
      ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END NULLS FIRST, r.topic NULLS FIRST, r.reference_id NULLS FIRST, r.view_id NULLS FIRST
    ) AS place
  FROM repeating AS r
  LEFT JOIN lone_topic AS o
    ON o.snapshot_id = r.snapshot_id AND o.topic = r.topic
  WHERE
    r.differs AND r.repeated
), listed AS (
  SELECT
    snapshot_id,
    LIST_SORT(
      ARRAY_AGG(
        {'place': place, 'topic': topic, 'reference_id': reference_id, 'view_id': view_id}
      ) FILTER(WHERE {'place': place, 'topic': topic, 'reference_id': reference_id, 'view_id': view_id} IS NOT NULL),
      'ASC',
      'NULLS FIRST'
    ) AS items
  FROM ranked
  WHERE
    place <= 10
  GROUP BY
    snapshot_id
)
SELECT
  c.snapshot_id,
  c.compared,
  c.differing,
  c.unrepeated,
  c.other_id,
  COALESCE(LIST_TRANSFORM(l.items, LAMBDA x : x.topic), []) AS first,
  GET(l.items, 0).reference_id AS reference_id,
  GET(l.items, 0).view_id AS view_id
FROM counted AS c
LEFT JOIN listed AS l
  ON l.snapshot_id = c.snapshot_id
