-- Who leads how much of Kafka's own topics for groups and transactions.
SELECT snapshot_id, topic, leader AS broker_id, count(*) AS led
FROM sampled_partition
WHERE now AND NOT deleting AND leader >= 0 AND topic IN ('__consumer_offsets', '__transaction_state')
GROUP BY snapshot_id, topic, leader
