-- Generated from differences/internal_topic.sql by `make docs`.
SELECT
  snapshot_id,
  topic,
  COUNT(*) AS partitions,
  MIN(ARRAY_LENGTH(replicas)) AS factor
FROM sampled_partition
WHERE
  now
  AND NOT deleting
  AND topic IN (
    '__consumer_offsets',
    '__transaction_state',
    '__share_group_state',
    '__remote_log_metadata'
  )
GROUP BY
  snapshot_id,
  topic
