-- Generated from differences/loss_effect.sql by `make docs`.
SELECT
  snapshot_id,
  loss,
  kind,
  topic,
  LIST_SORT(ARRAY_AGG(partition) FILTER(WHERE partition IS NOT NULL), 'ASC', 'NULLS FIRST') AS partitions
FROM (
  SELECT
    snapshot_id,
    loss,
    topic,
    partition,
    UNNEST(kinds) AS kind
  FROM lost_partition
)
GROUP BY
  snapshot_id,
  loss,
  kind,
  topic
