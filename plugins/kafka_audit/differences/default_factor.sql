-- How many replicas topics have for which the min.insync.replicas of brokers holds.
WITH own AS (
    SELECT DISTINCT s.snapshot_id, c.topic
    FROM chosen_sample AS s
    JOIN topic_config AS c ON c.snapshot_id = s.source_id AND c.key = 'min.insync.replicas'
    WHERE s.moment = 'now'),
topics AS (
    SELECT p.snapshot_id, p.topic, min(size(p.replicas)) AS factor, min(coalesce(size(p.isr), 0)) AS fewest
    FROM sampled_partition AS p
    LEFT JOIN own AS o ON o.snapshot_id = p.snapshot_id AND o.topic = p.topic
    WHERE p.now AND NOT p.deleting AND o.topic IS NULL
    GROUP BY p.snapshot_id, p.topic)
SELECT snapshot_id, factor, count(*) AS topics, min(topic) AS first, min(fewest) AS fewest
FROM topics
GROUP BY snapshot_id, factor
