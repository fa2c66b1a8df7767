-- Generated from differences/reference/offline_follower.sql by `make docs`.
SELECT DISTINCT
  l.snapshot_id,
  l.topics_digest,
  c.broker_id
FROM (
  SELECT DISTINCT
    snapshot_id,
    source_id,
    topics_digest
  FROM observer_view
) AS l
JOIN chosen_sample AS s
  ON s.snapshot_id = l.snapshot_id AND s.moment = 'now' AND s.kraft
JOIN view_topic AS v
  ON v.snapshot_id = l.source_id AND v.topics_digest = l.topics_digest
JOIN (
  SELECT
    snapshot_id,
    topic_digest,
    topic,
    UNNEST(ARRAY_INTERSECT(isr, offline_replicas)) AS broker_id
  FROM view_partition
  WHERE
    ARRAY_LENGTH(offline_replicas) > 0 AND (
      leader >= 0 OR error = 72
    )
) AS c
  ON c.snapshot_id = v.snapshot_id
  AND c.topic_digest = v.topic_digest
  AND c.topic = v.topic
