-- Generated from differences/broker_share.sql by `make docs`.
WITH held AS (
  SELECT
    snapshot_id,
    replica AS broker_id,
    partitions AS replicas,
    in_sync,
    CASE WHEN leader = -1 THEN partitions ELSE 0 END AS leaderless,
    0 AS led,
    CASE WHEN leader >= 0 AND first AND NOT deleting THEN in_sync ELSE 0 END AS preferred,
    CASE
      WHEN leader >= 0 AND first AND NOT deleting AND leader <> replica
      THEN in_sync
      ELSE 0
    END AS preferred_elsewhere,
    TRY_CAST(NULL AS BIGINT) AS newest_led
  FROM replica_placement
  WHERE
    partitions > 0
  UNION ALL
  SELECT
    snapshot_id,
    leader,
    0,
    0,
    0,
    partitions,
    0,
    0,
    newest
  FROM replica_placement
  WHERE
    partitions > 0 AND first
)
SELECT
  snapshot_id,
  broker_id,
  SUM(replicas) AS replicas,
  SUM(in_sync) AS in_sync,
  SUM(leaderless) AS leaderless,
  SUM(led) AS led,
  SUM(preferred) AS preferred,
  SUM(preferred_elsewhere) AS preferred_elsewhere,
  MAX(newest_led) AS newest_led
FROM held
WHERE
  broker_id >= 0
GROUP BY
  snapshot_id,
  broker_id
