-- Generated from differences/reference/lost_replica.sql by `make docs`.
SELECT
  l.snapshot_id,
  l.loss,
  l.margin,
  d.topic,
  d.partition,
  LIST(DISTINCT l.broker_id) FILTER(WHERE
    NOT l.broker_id IS NULL) AS brokers
FROM lost_disk AS l
JOIN chosen_sample AS s
  ON s.snapshot_id = l.snapshot_id AND s.moment = 'now'
JOIN (
  SELECT
    snapshot_id,
    replicas_digest,
    topic,
    UNNEST(partitions) AS partition
  FROM disk_replicas
) AS d
  ON d.snapshot_id = s.source_id AND d.replicas_digest = l.replicas_digest
GROUP BY
  l.snapshot_id,
  l.loss,
  l.margin,
  d.topic,
  d.partition
