-- Topics of the reference that a list of topics lacks, or holds only as refused (error 29), in either sample. Left out are topics
-- in deletion, and those whose znode assigns no partition, unless znodes were not read: brokers list topics by their partitions.
WITH lacking AS (
    SELECT e.snapshot_id, e.moment, e.topics_digest, e.topic, e.version,
           CASE WHEN e.disputed THEN 'topic_disputed' WHEN e.error IS NULL THEN 'topic_missing' ELSE 'topic_refused' END AS kind,
           e.among_brokers OR s.unread_topics AS may_be_empty
    FROM differing_entry AS e
    JOIN chosen_sample AS s ON s.snapshot_id = e.snapshot_id AND s.moment = e.moment
    WHERE e.error IS NULL OR e.error = 29),
counted AS (
    SELECT t.snapshot_id, t.moment, t.topic, count(*) AS partitions
    FROM (SELECT DISTINCT snapshot_id, moment, topic FROM lacking) AS t
    JOIN sampled_partition AS p
        ON p.snapshot_id = t.snapshot_id AND p.topic = t.topic AND CASE t.moment WHEN 'now' THEN p.now ELSE p.before END
    GROUP BY t.snapshot_id, t.moment, t.topic)
SELECT t.snapshot_id, t.moment, t.topics_digest, t.topic, t.version, t.kind, coalesce(p.partitions, 1) AS partitions
FROM lacking AS t
LEFT JOIN counted AS p ON p.snapshot_id = t.snapshot_id AND p.moment = t.moment AND p.topic = t.topic
WHERE p.topic IS NOT NULL OR t.may_be_empty
