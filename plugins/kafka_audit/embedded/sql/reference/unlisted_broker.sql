-- Generated from differences/reference/unlisted_broker.sql by `make docs`.
SELECT DISTINCT
  snapshot_id,
  broker_id
FROM (
  SELECT
    n.snapshot_id,
    UNNEST(LIST_FILTER(n.isr, LAMBDA x : NOT ARRAY_CONTAINS(b.brokers, x))) AS broker_id
  FROM sampled_partition AS n
  JOIN chosen_sample AS s
    ON s.snapshot_id = n.snapshot_id AND s.moment = 'now' AND s.kraft
  JOIN (
    SELECT
      snapshot_id,
      LIST(DISTINCT broker_id) FILTER(WHERE
        NOT broker_id IS NULL) AS brokers
    FROM known_broker
    WHERE
      moment = 'now'
    GROUP BY
      snapshot_id
  ) AS b
    ON b.snapshot_id = n.snapshot_id
  WHERE
    n.now AND COALESCE(n.leader, 0) >= 0
)
