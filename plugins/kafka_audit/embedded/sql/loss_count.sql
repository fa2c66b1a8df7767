-- Generated from differences/loss_count.sql by `make docs`.
WITH named AS (
  SELECT
    snapshot_id,
    loss,
    topic,
    partition,
    topic || '-' || TRY_CAST(partition AS TEXT) AS item,
    UNNEST(kinds) AS kind
  FROM lost_partition
), ranked AS (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY snapshot_id, loss, kind
      ORDER BY topic NULLS FIRST, partition NULLS FIRST
    ) AS place
  FROM named
)
SELECT
  snapshot_id,
  loss,
  kind,
  COUNT(*) AS partitions,
  COUNT(DISTINCT topic) AS topics,
  LIST_TRANSFORM(
    LIST_SORT(
      ARRAY_AGG(CASE WHEN place <= 10 THEN {'place': place, 'item': item} END) FILTER(WHERE CASE WHEN place <= 10 THEN {'place': place, 'item': item} END IS NOT NULL),
      'ASC',
      'NULLS FIRST'
    ),
    LAMBDA x : x.item
  ) AS first
FROM ranked
GROUP BY
  snapshot_id,
  loss,
  kind
