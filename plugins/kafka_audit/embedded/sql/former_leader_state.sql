-- Generated from differences/former_leader_state.sql by `make docs`.
SELECT
  f.snapshot_id,
  f.broker_id,
  f.topic,
  f.partition,
  f.preferred,
  p.previous_leader AS leader_before,
  n.leader
FROM former_leader AS f
LEFT JOIN same_partition AS p
  ON p.snapshot_id = f.snapshot_id AND p.topic = f.topic AND p.partition = f.partition
LEFT JOIN partition_state AS n
  ON n.snapshot_id = f.snapshot_id
  AND n.moment = 'now'
  AND n.topic = f.topic
  AND n.partition = f.partition
