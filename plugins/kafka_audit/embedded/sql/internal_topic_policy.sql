-- Generated from differences/internal_topic_policy.sql by `make docs`.
SELECT
  s.snapshot_id,
  c.topic,
  MAX(c.value) AS cleanup_policy
FROM chosen_sample AS s
JOIN topic_config AS c
  ON c.snapshot_id = s.source_id AND c.key = 'cleanup.policy'
WHERE
  s.moment = 'now' AND c.topic IN ('__consumer_offsets', '__transaction_state')
GROUP BY
  s.snapshot_id,
  c.topic
