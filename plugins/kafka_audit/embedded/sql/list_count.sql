-- Generated from differences/list_count.sql by `make docs`.
WITH lists AS (
  SELECT
    snapshot_id,
    source_id,
    topics_digest,
    MAX(moment) AS moment
  FROM observer_view
  GROUP BY
    snapshot_id,
    source_id,
    topics_digest
), content AS (
  SELECT
    snapshot_id,
    topic_digest,
    topic,
    COUNT(*) AS partitions,
    COUNT_IF(leader >= 0) AS led,
    MIN(LIST_MIN(replicas)) AS lowest,
    MAX(LIST_MAX(replicas)) AS highest
  FROM view_partition
  GROUP BY
    snapshot_id,
    topic_digest,
    topic
), shown AS (
  SELECT
    l.snapshot_id,
    l.topics_digest,
    SUM(c.partitions) AS partitions,
    SUM(c.led) AS led,
    MIN(c.lowest) AS lowest,
    MAX(c.highest) AS highest
  FROM lists AS l
  JOIN view_topic AS v
    ON v.snapshot_id = l.source_id AND v.topics_digest = l.topics_digest
  JOIN content AS c
    ON c.snapshot_id = v.snapshot_id
    AND c.topic_digest = v.topic_digest
    AND c.topic = v.topic
  GROUP BY
    l.snapshot_id,
    l.topics_digest
), lacking AS (
  SELECT
    l.snapshot_id,
    l.topics_digest,
    SUM(t.partitions) AS missing
  FROM lists AS l
  JOIN lacking_topic AS t
    ON t.snapshot_id = l.snapshot_id
    AND t.moment = l.moment
    AND t.topics_digest = l.topics_digest
  GROUP BY
    l.snapshot_id,
    l.topics_digest
), away AS (
  SELECT
    snapshot_id,
    topics_digest,
    ARRAY_SLICE(
      LIST_SORT(LIST(DISTINCT broker_id) FILTER(WHERE
        NOT broker_id IS NULL), 'ASC', 'NULLS FIRST'),
      1,
      1000
    ) AS brokers
  FROM offline_follower
  GROUP BY
    snapshot_id,
    topics_digest
)
SELECT
  l.snapshot_id,
  l.topics_digest,
  COALESCE(s.partitions, 0) AS partitions,
  COALESCE(s.led, 0) AS led,
  COALESCE(m.missing, 0) AS missing,
  LIST_SORT(
    LIST_DISTINCT(LIST_FILTER([s.lowest, s.highest], LAMBDA _u : NOT _u IS NULL)),
    'ASC',
    'NULLS FIRST'
  ) AS brokers,
  COALESCE(a.brokers, []) AS offline_in_sync
FROM lists AS l
LEFT JOIN shown AS s
  ON s.snapshot_id = l.snapshot_id AND s.topics_digest = l.topics_digest
LEFT JOIN lacking AS m
  ON m.snapshot_id = l.snapshot_id AND m.topics_digest = l.topics_digest
LEFT JOIN away AS a
  ON a.snapshot_id = l.snapshot_id AND a.topics_digest = l.topics_digest
