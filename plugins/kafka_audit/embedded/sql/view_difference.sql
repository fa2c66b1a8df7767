-- Generated from differences/view_difference.sql by `make docs`.
WITH ranked AS (
  SELECT
    d.*,
    DENSE_RANK() OVER (
      PARTITION BY d.snapshot_id, d.name, d.kind, d.repeated
      ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END NULLS FIRST, d.topic NULLS FIRST, d.partition NULLS FIRST
    ) AS place,
    ROW_NUMBER() OVER (
      PARTITION BY d.snapshot_id, d.name, d.kind, d.repeated, d.topic, d.partition
      ORDER BY d.listener NULLS FIRST, d.view_leader NULLS FIRST
    ) AS copy
  FROM disagreement AS d
  LEFT JOIN lone_topic AS o
    ON o.snapshot_id = d.snapshot_id AND o.topic = d.topic
)
SELECT
  snapshot_id,
  name,
  kind,
  repeated,
  SUM(CASE WHEN copy = 1 THEN partitions ELSE 0 END) AS partitions,
  LIST_TRANSFORM(
    LIST_SORT(
      ARRAY_AGG(
        CASE
          WHEN copy = 1 AND place <= 10
          THEN {'place': place, 'item': CONCAT_WS('-', topic, TRY_CAST(partition AS TEXT))}
        END
      ) FILTER(WHERE CASE
        WHEN copy = 1 AND place <= 10
        THEN {'place': place, 'item': CONCAT_WS('-', topic, TRY_CAST(partition AS TEXT))}
      END IS NOT NULL),
      'ASC',
      'NULLS FIRST'
    ),
    LAMBDA x : x.item
  ) AS first,
  ARRAY_SLICE(
    LIST_SORT(
      COALESCE(LIST(DISTINCT broker_id) FILTER(WHERE
        NOT broker_id IS NULL), []),
      'ASC',
      'NULLS FIRST'
    ),
    1,
    10
  ) AS brokers,
  LIST_SORT(LIST(DISTINCT listener) FILTER(WHERE
    NOT listener IS NULL), 'ASC', 'NULLS FIRST') AS listeners,
  MAX(CASE WHEN place = 1 AND copy = 1 THEN leader END) AS leader,
  MAX(CASE WHEN place = 1 AND copy = 1 THEN leader_epoch END) AS leader_epoch,
  MAX(CASE WHEN place = 1 AND copy = 1 THEN replicas END) AS replicas,
  MAX(CASE WHEN place = 1 AND copy = 1 THEN isr END) AS isr,
  MAX(CASE WHEN place = 1 AND copy = 1 THEN view_error END) AS view_error,
  MAX(CASE WHEN place = 1 AND copy = 1 THEN view_leader END) AS view_leader,
  MAX(CASE WHEN place = 1 AND copy = 1 THEN view_leader_epoch END) AS view_leader_epoch,
  MAX(CASE WHEN place = 1 AND copy = 1 THEN view_replicas END) AS view_replicas,
  MAX(CASE WHEN place = 1 AND copy = 1 THEN view_isr END) AS view_isr
FROM ranked
GROUP BY
  snapshot_id,
  name,
  kind,
  repeated
