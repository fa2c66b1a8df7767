-- Brokers of replicas that are not registered, now. `runs`: an ISR shows that they run.
SELECT DISTINCT p.snapshot_id, p.replica AS broker_id, u.broker_id IS NOT NULL AS runs
FROM replica_placement AS p
JOIN (SELECT DISTINCT snapshot_id FROM known_broker WHERE moment = 'now') AS r ON r.snapshot_id = p.snapshot_id
LEFT JOIN known_broker AS k ON k.snapshot_id = p.snapshot_id AND k.moment = 'now' AND k.broker_id = p.replica
LEFT JOIN unlisted_broker AS u ON u.snapshot_id = p.snapshot_id AND u.broker_id = p.replica
WHERE k.broker_id IS NULL AND p.replica >= 0 AND p.partitions > 0 AND NOT p.deleting
