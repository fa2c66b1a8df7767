-- Topics of each moment of a KRaft cluster: those of the newest lists that brokers hold. `disputed`: these lists differ in it.
-- `topic_digest` is null where any list differs in its content.
SELECT l.snapshot_id, l.moment, t.topic, max(CASE WHEN l.place = 1 THEN t.topic_id END) AS topic_id,
       CAST(NULL AS BIGINT) AS created, CAST(NULL AS BIGINT) AS version, false AS deleting,
       count_if(l.place = 1) < max(l.tied)
           OR coalesce(min(CASE WHEN l.place = 1 THEN t.topic_id END) < max(CASE WHEN l.place = 1 THEN t.topic_id END), false)
           AS disputed,
       CASE WHEN min(t.topic_digest) = max(t.topic_digest) THEN max(t.topic_digest) END AS topic_digest
FROM reference_list AS l
JOIN view_topic AS t ON t.snapshot_id = l.source_id AND t.topics_digest = l.topics_digest
WHERE t.error <> 29
GROUP BY l.snapshot_id, l.moment, t.topic
HAVING count_if(l.place = 1) > 0
