-- Generated from differences/reference/zookeeper_sampled_partition.sql by `make docs`.
SELECT
  n.snapshot_id,
  p.topic,
  p.partition,
  p.replicas,
  p.leader,
  p.leader_epoch,
  p.controller_epoch,
  p.isr,
  p.leader_recovery_state AS recovery_state,
  p.state_mzxid AS version,
  t.deleting,
  n.sample BETWEEN p.sample AND p.last_sample AS now,
  COALESCE(b.sample BETWEEN p.sample AND p.last_sample, FALSE) AS before
FROM chosen_sample AS n
LEFT JOIN chosen_sample AS b
  ON b.snapshot_id = n.snapshot_id AND b.moment = 'before'
JOIN registered_partition AS p
  ON p.snapshot_id = n.source_id
LEFT JOIN topic_state AS t
  ON t.snapshot_id = n.snapshot_id AND t.moment = 'now' AND t.topic = p.topic
WHERE
  n.moment = 'now'
  AND NOT n.kraft
  AND (
    n.sample BETWEEN p.sample AND p.last_sample
    OR COALESCE(b.sample BETWEEN p.sample AND p.last_sample, FALSE)
  )
