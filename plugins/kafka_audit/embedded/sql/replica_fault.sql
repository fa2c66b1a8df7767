-- Generated from differences/replica_fault.sql by `make docs`.
SELECT
  snapshot_id,
  kind,
  COUNT(*) AS partitions
FROM (
  SELECT
    snapshot_id,
    UNNEST(kinds) AS kind
  FROM faulty_partition
)
GROUP BY
  snapshot_id,
  kind
