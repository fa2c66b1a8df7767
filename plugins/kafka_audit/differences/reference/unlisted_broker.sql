-- Brokers that run, and that Metadata does not list: they lack the listener of the question.
SELECT DISTINCT f.snapshot_id, f.broker_id
FROM offline_follower AS f
JOIN reference_list AS r
    ON r.snapshot_id = f.snapshot_id AND r.moment = 'now' AND r.topics_digest = f.topics_digest AND r.place = 1
LEFT JOIN known_broker AS k ON k.snapshot_id = f.snapshot_id AND k.moment = 'now' AND k.broker_id = f.broker_id
WHERE k.broker_id IS NULL
