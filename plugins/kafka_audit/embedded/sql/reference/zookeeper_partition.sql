-- Generated from differences/reference/zookeeper_partition.sql by `make docs`.
SELECT
  s.snapshot_id,
  s.moment,
  p.topic,
  p.partition,
  p.replicas,
  p.leader,
  p.leader_epoch,
  p.controller_epoch,
  p.isr,
  p.leader_recovery_state AS recovery_state,
  p.state_mzxid AS version,
  t.deleting
FROM chosen_sample AS s
JOIN registered_partition AS p
  ON p.snapshot_id = s.source_id AND s.sample BETWEEN p.sample AND p.last_sample
JOIN differing_topic AS d
  ON d.snapshot_id = s.snapshot_id AND d.topic = p.topic
LEFT JOIN topic_state AS t
  ON t.snapshot_id = s.snapshot_id AND t.moment = s.moment AND t.topic = p.topic
WHERE
  NOT s.kraft
