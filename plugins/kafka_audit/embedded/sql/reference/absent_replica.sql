-- Generated from differences/reference/absent_replica.sql by `make docs`.
SELECT
  h.snapshot_id,
  h.topic,
  h.partition,
  LIST(DISTINCT CASE WHEN NOT a.runs THEN a.broker_id END) FILTER(WHERE
    NOT CASE WHEN NOT a.runs THEN a.broker_id END IS NULL) AS down
FROM (
  SELECT
    snapshot_id,
    topic,
    partition,
    UNNEST(replicas) AS broker_id
  FROM sampled_partition
  WHERE
    now AND NOT deleting
) AS h
JOIN absent_broker AS a
  ON a.snapshot_id = h.snapshot_id AND a.broker_id = h.broker_id
GROUP BY
  h.snapshot_id,
  h.topic,
  h.partition
