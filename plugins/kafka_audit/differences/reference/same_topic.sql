-- Topics that are the same now and in the previous snapshot: not created, deleted or recreated in between. Identified by topic id,
-- before Kafka 2.8 by the czxid of the topic's znode. `alike`: so are all its partitions.
SELECT n.snapshot_id, n.topic, d.topic IS NULL AS alike
FROM topic_state AS n
JOIN topic_state AS p ON p.snapshot_id = n.snapshot_id AND p.topic = n.topic AND p.moment = 'previous'
LEFT JOIN differing_topic AS d ON d.snapshot_id = n.snapshot_id AND d.topic = n.topic
WHERE n.moment = 'now'
    AND CASE WHEN n.topic_id IS NULL OR p.topic_id IS NULL THEN n.created = p.created ELSE n.topic_id = p.topic_id END
