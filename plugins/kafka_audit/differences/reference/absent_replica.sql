-- Partitions with replicas on brokers that are not registered, now. `down`: those of these brokers that do not run. Each partition has
-- its own list: compared with the list of all such brokers, made-up ones would cost as many comparisons as there are partitions.
SELECT h.snapshot_id, h.topic, h.partition, collect_set(CASE WHEN NOT a.runs THEN a.broker_id END) AS down
FROM (SELECT snapshot_id, topic, partition, explode(replicas) AS broker_id
      FROM sampled_partition
      WHERE now AND NOT deleting) AS h
JOIN absent_broker AS a ON a.snapshot_id = h.snapshot_id AND a.broker_id = h.broker_id
GROUP BY h.snapshot_id, h.topic, h.partition
