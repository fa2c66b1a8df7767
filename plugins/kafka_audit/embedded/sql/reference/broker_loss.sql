-- Generated from differences/reference/broker_loss.sql by `make docs`.
WITH going AS (
  SELECT
    snapshot_id,
    loss,
    broker_id,
    margin
  FROM lost_broker
  UNION ALL
  SELECT
    u.snapshot_id,
    'broker:' || u.broker_id AS loss,
    u.broker_id,
    m.margin
  FROM unlisted_broker AS u
  JOIN (
    SELECT
      snapshot_id,
      MAX(margin) AS margin
    FROM lost_broker
    GROUP BY
      snapshot_id
  ) AS m
    ON m.snapshot_id = u.snapshot_id
  LEFT JOIN lost_broker AS b
    ON b.snapshot_id = u.snapshot_id AND b.loss = 'broker:' || u.broker_id
  WHERE
    b.loss IS NULL
)
SELECT
  snapshot_id,
  loss,
  margin,
  LIST(DISTINCT broker_id) FILTER(WHERE
    NOT broker_id IS NULL) AS brokers
FROM going
GROUP BY
  snapshot_id,
  loss,
  margin
