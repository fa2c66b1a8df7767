-- Kafka's own topics that exist.
SELECT snapshot_id, topic, count(*) AS partitions, min(size(replicas)) AS factor
FROM sampled_partition
WHERE now AND NOT deleting AND topic IN
      ('__consumer_offsets', '__transaction_state', '__share_group_state', '__remote_log_metadata')
GROUP BY snapshot_id, topic
