-- What becomes of the partitions of a topic if brokers go: all of them.
SELECT snapshot_id, loss, kind, topic, sort_array(collect_list(partition)) AS partitions
FROM (SELECT snapshot_id, loss, topic, partition, explode(kinds) AS kind FROM lost_partition)
GROUP BY snapshot_id, loss, kind, topic
