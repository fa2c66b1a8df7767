-- The replicas of each partition that a loss takes with a disk; `stay`: brokers that lead what was there on and do not serve it.
SELECT l.snapshot_id, l.loss, l.margin, d.topic, d.partition, collect_set(l.broker_id) AS brokers,
       coalesce(collect_set(CASE WHEN NOT l.moves THEN l.broker_id END), array()) AS stay
FROM lost_disk AS l
JOIN chosen_sample AS s ON s.snapshot_id = l.snapshot_id AND s.moment = 'now'
JOIN (SELECT snapshot_id, replicas_digest, topic, explode(partitions) AS partition FROM disk_replicas) AS d
    ON d.snapshot_id = s.source_id AND d.replicas_digest = l.replicas_digest
GROUP BY l.snapshot_id, l.loss, l.margin, d.topic, d.partition
