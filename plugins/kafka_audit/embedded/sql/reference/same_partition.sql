-- Generated from differences/reference/same_partition.sql by `make docs`.
SELECT
  n.snapshot_id,
  n.topic,
  n.partition,
  n.replicas,
  n.leader,
  n.leader_epoch,
  n.isr,
  b.leader_epoch AS before_epoch,
  p.leader AS previous_leader,
  p.leader_epoch AS previous_epoch,
  p.isr AS previous_isr
FROM partition_state AS n
JOIN same_topic AS t
  ON t.snapshot_id = n.snapshot_id AND t.topic = n.topic
JOIN partition_state AS p
  ON p.snapshot_id = n.snapshot_id
  AND p.topic = n.topic
  AND p.partition = n.partition
  AND p.moment = 'previous'
LEFT JOIN partition_state AS b
  ON b.snapshot_id = n.snapshot_id
  AND b.topic = n.topic
  AND b.partition = n.partition
  AND b.moment = 'before'
WHERE
  n.moment = 'now'
