-- Topics of the reference that a list of topics lacks, or holds only as refused (error 29), in either sample. Left out are topics
-- in deletion, and those whose znode assigns no partition, unless znodes were not read: brokers list topics by their partitions.
WITH lists AS (
    SELECT DISTINCT snapshot_id, moment, source_id, topics_digest FROM observer_view),
lacking AS (
    SELECT l.snapshot_id, l.moment, l.topics_digest, t.topic, t.version,
           CASE WHEN t.disputed THEN 'topic_disputed' WHEN v.topic IS NULL THEN 'topic_missing' ELSE 'topic_refused' END AS kind,
           t.created IS NULL OR s.unread_topics AS may_be_empty
    FROM lists AS l
    JOIN chosen_sample AS s ON s.snapshot_id = l.snapshot_id AND s.moment = l.moment
    JOIN topic_state AS t ON t.snapshot_id = l.snapshot_id AND t.moment = l.moment AND NOT t.deleting
    LEFT JOIN view_topic AS v
        ON v.snapshot_id = l.source_id AND v.topics_digest = l.topics_digest AND v.topic = t.topic
        AND (t.created IS NOT NULL OR v.topic_id IS NOT DISTINCT FROM t.topic_id)
    WHERE v.topic IS NULL OR v.error = 29),
counted AS (
    SELECT snapshot_id, moment, topic, count(*) AS partitions FROM partition_state GROUP BY snapshot_id, moment, topic)
SELECT t.snapshot_id, t.moment, t.topics_digest, t.topic, t.version, t.kind, coalesce(p.partitions, 1) AS partitions
FROM lacking AS t
LEFT JOIN counted AS p ON p.snapshot_id = t.snapshot_id AND p.moment = t.moment AND p.topic = t.topic
WHERE p.topic IS NOT NULL OR t.may_be_empty
