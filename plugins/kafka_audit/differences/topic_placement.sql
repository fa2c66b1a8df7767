-- Where the partitions of the topics are that a user asks about.
SELECT p.snapshot_id, p.topic, p.partition, p.replicas, p.leader, p.isr
FROM sampled_partition AS p
JOIN asked_topic AS a ON a.snapshot_id = p.snapshot_id AND a.topic = p.topic
WHERE p.now AND NOT p.deleting
