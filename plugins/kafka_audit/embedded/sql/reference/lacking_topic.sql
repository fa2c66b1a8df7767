-- Generated from differences/reference/lacking_topic.sql by `make docs`.
WITH lacking AS (
  SELECT
    e.snapshot_id,
    e.moment,
    e.topics_digest,
    e.topic,
    e.version,
    CASE
      WHEN e.disputed
      THEN 'topic_disputed'
      WHEN e.error IS NULL
      THEN 'topic_missing'
      ELSE 'topic_refused'
    END AS kind,
    e.among_brokers OR s.unread_topics AS may_be_empty
  FROM differing_entry AS e
  JOIN chosen_sample AS s
    ON s.snapshot_id = e.snapshot_id AND s.moment = e.moment
  WHERE
    e.error IS NULL OR e.error = 29
), counted AS (
  SELECT
    t.snapshot_id,
    t.moment,
    t.topic,
    COUNT(*) AS partitions
  FROM (
    SELECT DISTINCT
      snapshot_id,
      moment,
      topic
    FROM lacking
  ) AS t
  JOIN sampled_partition AS p
    ON p.snapshot_id = t.snapshot_id
    AND p.topic = t.topic
    AND CASE t.moment WHEN 'now' THEN p.now ELSE p.before END
  GROUP BY
    t.snapshot_id,
    t.moment,
    t.topic
)
SELECT
  t.snapshot_id,
  t.moment,
  t.topics_digest,
  t.topic,
  t.version,
  t.kind,
  COALESCE(p.partitions, 1) AS partitions
FROM lacking AS t
LEFT JOIN counted AS p
  ON p.snapshot_id = t.snapshot_id AND p.moment = t.moment AND p.topic = t.topic
WHERE
  NOT p.topic IS NULL OR t.may_be_empty
