-- Generated from differences/partition_count.sql by `make docs`.
WITH topics AS (
  SELECT
    snapshot_id,
    COUNT_IF(NOT deleting) AS topics,
    COUNT_IF(deleting) AS deleting
  FROM topic_state
  WHERE
    moment = 'now'
  GROUP BY
    snapshot_id
), partitions AS (
  SELECT
    snapshot_id,
    SUM(partitions) AS partitions,
    SUM(CASE WHEN leader >= 0 THEN partitions ELSE 0 END) AS led,
    SUM(CASE WHEN leader = -1 THEN partitions ELSE 0 END) AS leaderless,
    SUM(CASE WHEN leader >= 0 THEN incomplete ELSE 0 END) AS incomplete
  FROM replica_placement
  WHERE
    first AND NOT deleting
  GROUP BY
    snapshot_id
), registered AS (
  SELECT
    snapshot_id,
    LIST(DISTINCT broker_id) FILTER(WHERE
      NOT broker_id IS NULL) AS brokers
  FROM known_broker
  WHERE
    moment = 'now'
  GROUP BY
    snapshot_id
), unregistered AS (
  SELECT
    p.snapshot_id,
    LIST(DISTINCT p.replica) FILTER(WHERE
      NOT p.replica IS NULL) AS brokers
  FROM replica_placement AS p
  JOIN registered AS k
    ON k.snapshot_id = p.snapshot_id AND NOT ARRAY_CONTAINS(k.brokers, p.replica)
  WHERE
    p.replica >= 0 AND p.partitions > 0 AND NOT p.deleting
  GROUP BY
    p.snapshot_id
), away AS (
  SELECT
    u.snapshot_id,
    COUNT(*) AS partitions
  FROM unregistered AS u
  JOIN sampled_partition AS p
    ON p.snapshot_id = u.snapshot_id
    AND p.now
    AND NOT p.deleting
    AND ARRAYS_OVERLAP(p.replicas, u.brokers)
  GROUP BY
    u.snapshot_id
)
SELECT
  s.snapshot_id,
  COALESCE(t.topics, 0) AS topics,
  COALESCE(p.partitions, 0) AS partitions,
  COALESCE(p.led, 0) AS led,
  COALESCE(p.leaderless, 0) AS leaderless,
  COALESCE(t.deleting, 0) AS deleting,
  COALESCE(p.incomplete, 0) AS incomplete,
  COALESCE(a.partitions, 0) AS unregistered
FROM chosen_sample AS s
LEFT JOIN topics AS t
  ON t.snapshot_id = s.snapshot_id
LEFT JOIN partitions AS p
  ON p.snapshot_id = s.snapshot_id
LEFT JOIN away AS a
  ON a.snapshot_id = s.snapshot_id
WHERE
  s.moment = 'now'
