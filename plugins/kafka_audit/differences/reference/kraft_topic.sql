-- Topics of each moment of a KRaft cluster: those of the newest lists that brokers hold. `disputed`: these lists differ in it.
SELECT l.snapshot_id, l.moment, t.topic, max(t.topic_id) AS topic_id, CAST(NULL AS BIGINT) AS created,
       CAST(NULL AS BIGINT) AS version, false AS deleting,
       count(*) < max(l.tied) OR coalesce(min(t.topic_id) < max(t.topic_id), false) AS disputed
FROM reference_list AS l
JOIN view_topic AS t ON t.snapshot_id = l.source_id AND t.topics_digest = l.topics_digest
WHERE l.place = 1 AND t.error <> 29
GROUP BY l.snapshot_id, l.moment, t.topic
