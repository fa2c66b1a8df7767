-- What topics of Kafka and of its companions set for themselves about how long records are kept.
SELECT s.snapshot_id, c.topic, c.key, max(c.value) AS value
FROM chosen_sample AS s
JOIN topic_config AS c ON c.snapshot_id = s.source_id AND c.key IN ('cleanup.policy', 'retention.ms', 'retention.bytes')
WHERE s.moment = 'now' AND (c.topic LIKE 'connect-stat%' OR c.topic IN
      ('__consumer_offsets', '__transaction_state', '__share_group_state', '__remote_log_metadata', '_schemas',
       'connect-configs', 'connect-offsets'))
GROUP BY s.snapshot_id, c.topic, c.key
