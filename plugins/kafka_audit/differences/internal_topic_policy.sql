-- What Kafka's own topics set as their cleanup.policy.
SELECT s.snapshot_id, c.topic, max(c.value) AS cleanup_policy
FROM chosen_sample AS s
JOIN topic_config AS c ON c.snapshot_id = s.source_id AND c.key = 'cleanup.policy'
WHERE s.moment = 'now' AND c.topic IN ('__consumer_offsets', '__transaction_state')
GROUP BY s.snapshot_id, c.topic
