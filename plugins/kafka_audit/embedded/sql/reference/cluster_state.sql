-- Generated from differences/reference/cluster_state.sql by `make docs`.
WITH losses AS (
  SELECT
    snapshot_id,
    MAX(margin) AS margin,
    MAX(ARRAY_LENGTH(brokers)) > 1 AS several
  FROM broker_loss
  GROUP BY
    snapshot_id
)
SELECT
  k.snapshot_id,
  MAX(COALESCE(k.min_isr, 0)) AS min_isr,
  BOOL_AND(CAST(k.capped AS BOOLEAN)) AS capped,
  COALESCE(MAX(l.margin), 0) AS margin,
  COALESCE(BOOL_OR(CAST(l.several AS BOOLEAN)), FALSE) AS several
FROM known_broker AS k
LEFT JOIN losses AS l
  ON l.snapshot_id = k.snapshot_id
WHERE
  k.moment = 'now'
GROUP BY
  k.snapshot_id
