-- Generated from differences/reference/replica_placement.sql by `make docs`.
WITH placed AS (
  SELECT
    p.snapshot_id,
    p.leader,
    p.version,
    p.controller_epoch,
    p.recovery_state,
    p.deleting,
    p.now,
    p.before,
    COALESCE(t.alike, FALSE) AS alike,
    ARRAY_LENGTH(p.replicas) > 1 AS several,
    COALESCE(GET(p.replicas, 0), -1) AS preferred,
    ARRAY_LENGTH(
      CASE
        WHEN p.replicas IS NULL OR p.isr IS NULL
        THEN NULL
        ELSE LIST_FILTER(
          LIST_DISTINCT(p.replicas),
          LAMBDA e : LENGTH(LIST_FILTER(p.isr, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
        )
      END
    ) > 0 AS incomplete,
    LIST_TRANSFORM(
      CASE
        WHEN ARRAY_LENGTH(p.replicas) > 0
        THEN LIST_DISTINCT(p.replicas)
        ELSE [TRY_CAST(-1 AS BIGINT)]
      END,
      LAMBDA x : {'id': x, 'in_sync': COALESCE(ARRAY_CONTAINS(p.isr, x), FALSE)}
    ) AS copies
  FROM sampled_partition AS p
  LEFT JOIN same_topic AS t
    ON t.snapshot_id = p.snapshot_id AND t.topic = p.topic
), copy AS (
  SELECT
    snapshot_id,
    leader,
    version,
    controller_epoch,
    recovery_state,
    deleting,
    now,
    before,
    alike,
    several,
    preferred,
    incomplete,
    UNNEST(copies) AS replica
  FROM placed
)
SELECT
  snapshot_id,
  leader,
  replica.id AS replica,
  replica.id = preferred AS first,
  several,
  deleting,
  alike,
  COUNT_IF(now) AS partitions,
  COUNT_IF(now AND replica.in_sync) AS in_sync,
  COUNT_IF(now AND incomplete) AS incomplete,
  MIN(CASE WHEN now THEN version END) AS oldest,
  MAX(CASE WHEN now THEN version END) AS newest,
  MAX(CASE WHEN now THEN controller_epoch END) AS controller_epoch,
  COUNT_IF(now AND recovery_state = 1) AS recovering,
  COUNT_IF(before) AS partitions_before,
  COUNT_IF(before AND replica.in_sync) AS in_sync_before,
  MAX(CASE WHEN before THEN version END) AS newest_before
FROM copy
GROUP BY
  snapshot_id,
  leader,
  replica.id,
  replica.id = preferred,
  several,
  deleting,
  alike
