-- Generated from differences/reference/cluster_state.sql by `make docs`.
WITH down AS (
  SELECT
    p.snapshot_id,
    LIST(DISTINCT p.replica) FILTER(WHERE
      NOT p.replica IS NULL) AS brokers
  FROM replica_placement AS p
  LEFT JOIN known_broker AS k
    ON k.snapshot_id = p.snapshot_id AND k.moment = 'now' AND k.broker_id = p.replica
  LEFT JOIN unlisted_broker AS u
    ON u.snapshot_id = p.snapshot_id AND u.broker_id = p.replica
  WHERE
    k.broker_id IS NULL AND u.broker_id IS NULL
  GROUP BY
    p.snapshot_id
), losses AS (
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
  COALESCE(FIRST(d.brokers), []) AS down,
  COALESCE(MAX(l.margin), 0) AS margin,
  COALESCE(BOOL_OR(CAST(l.several AS BOOLEAN)), FALSE) AS several
FROM known_broker AS k
LEFT JOIN down AS d
  ON d.snapshot_id = k.snapshot_id
LEFT JOIN losses AS l
  ON l.snapshot_id = k.snapshot_id
WHERE
  k.moment = 'now'
GROUP BY
  k.snapshot_id
