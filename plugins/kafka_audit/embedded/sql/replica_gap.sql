-- Generated from differences/replica_gap.sql by `make docs`.
WITH observed AS (
  SELECT
    s.snapshot_id,
    c.topic,
    MAX(TRY_CAST(c.value AS BIGINT)) AS observers
  FROM chosen_sample AS s
  JOIN topic_config AS c
    ON c.snapshot_id = s.source_id AND c.key = 'confluent.placement.constraints'
  WHERE
    s.moment = 'now'
  GROUP BY
    s.snapshot_id,
    c.topic
), excused AS (
  SELECT
    snapshot_id,
    leader,
    replica,
    COUNT_IF(now) AS in_sync,
    COUNT_IF(before) AS in_sync_before
  FROM (
    SELECT
      p.snapshot_id,
      p.leader,
      p.now,
      p.before,
      UNNEST(
        CASE
          WHEN p.replicas IS NULL OR p.isr IS NULL
          THEN NULL
          ELSE LIST_FILTER(
            LIST_DISTINCT(p.replicas),
            LAMBDA e : LENGTH(LIST_FILTER(p.isr, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
          )
        END
      ) AS replica
    FROM sampled_partition AS p
    JOIN observed AS o
      ON o.snapshot_id = p.snapshot_id AND o.topic = p.topic
    WHERE
      ARRAY_LENGTH(
        CASE
          WHEN p.replicas IS NULL OR p.isr IS NULL
          THEN NULL
          ELSE LIST_FILTER(
            LIST_DISTINCT(p.replicas),
            LAMBDA e : LENGTH(LIST_FILTER(p.isr, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
          )
        END
      ) <= o.observers
  )
  GROUP BY
    snapshot_id,
    leader,
    replica
), added AS (
  SELECT
    snapshot_id,
    leader,
    replica,
    COUNT(*) AS partitions
  FROM (
    SELECT
      p.snapshot_id,
      p.leader,
      UNNEST(
        CASE
          WHEN ARRAY_INTERSECT(p.replicas, m.adding) IS NULL OR p.isr IS NULL
          THEN NULL
          ELSE LIST_FILTER(
            LIST_DISTINCT(ARRAY_INTERSECT(p.replicas, m.adding)),
            LAMBDA e : LENGTH(LIST_FILTER(p.isr, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
          )
        END
      ) AS replica
    FROM sampled_partition AS p
    JOIN reassigned AS m
      ON m.snapshot_id = p.snapshot_id
      AND m.moment = 'now'
      AND m.topic = p.topic
      AND m.partition = p.partition
    WHERE
      p.now
  )
  GROUP BY
    snapshot_id,
    leader,
    replica
), summed AS (
  SELECT
    snapshot_id,
    leader,
    replica,
    SUM(partitions) AS partitions,
    SUM(in_sync) AS in_sync,
    MIN(oldest) AS oldest,
    MAX(newest) AS newest,
    SUM(partitions_before) AS partitions_before,
    SUM(in_sync_before) AS in_sync_before,
    MAX(newest_before) AS newest_before
  FROM replica_placement
  WHERE
    leader >= 0 AND several
  GROUP BY
    snapshot_id,
    leader,
    replica
), counted AS (
  SELECT
    c.snapshot_id,
    c.leader,
    c.replica,
    c.partitions,
    c.in_sync + COALESCE(x.in_sync, 0) AS in_sync,
    c.oldest,
    c.newest,
    c.partitions_before,
    c.in_sync_before + COALESCE(x.in_sync_before, 0) AS in_sync_before,
    c.newest_before
  FROM summed AS c
  LEFT JOIN excused AS x
    ON x.snapshot_id = c.snapshot_id AND x.leader = c.leader AND x.replica = c.replica
), placed AS (
  SELECT
    *,
    SUM(in_sync) OVER (PARTITION BY snapshot_id, replica) > in_sync AS follows_others,
    SUM(CASE WHEN replica = leader THEN 0 ELSE in_sync END) OVER (PARTITION BY snapshot_id, leader) = 0 AS leader_alone
  FROM counted
), offline AS (
  SELECT DISTINCT
    o.snapshot_id,
    v.leader,
    v.replica
  FROM (
    SELECT
      snapshot_id,
      topic_digest,
      topic,
      leader,
      UNNEST(offline_replicas) AS replica
    FROM view_partition
    WHERE
      ARRAY_LENGTH(offline_replicas) > 0
  ) AS v
  JOIN view_topic AS t
    ON t.snapshot_id = v.snapshot_id
    AND t.topic_digest = v.topic_digest
    AND t.topic = v.topic
  JOIN observer_view AS o
    ON o.source_id = t.snapshot_id
    AND o.topics_digest = t.topics_digest
    AND o.moment = 'now'
)
SELECT
  n.snapshot_id,
  n.leader,
  n.replica,
  n.partitions,
  n.in_sync,
  s.steady
  AND n.partitions_before = n.partitions
  AND n.in_sync_before = n.in_sync
  AND COALESCE(n.newest_before = n.newest, FALSE) AS repeated,
  n.oldest AS oldest_version,
  n.follows_others,
  n.leader_alone,
  NOT o.leader IS NULL AS listed_offline,
  COALESCE(a.partitions >= n.partitions - n.in_sync, FALSE) AS added
FROM placed AS n
JOIN chosen_sample AS s
  ON s.snapshot_id = n.snapshot_id AND s.moment = 'now'
JOIN known_broker AS k
  ON k.snapshot_id = n.snapshot_id AND k.moment = 'now' AND k.broker_id = n.replica
LEFT JOIN offline AS o
  ON o.snapshot_id = n.snapshot_id AND o.leader = n.leader AND o.replica = n.replica
LEFT JOIN added AS a
  ON a.snapshot_id = n.snapshot_id AND a.leader = n.leader AND a.replica = n.replica
WHERE
  n.leader <> n.replica AND n.in_sync < n.partitions
