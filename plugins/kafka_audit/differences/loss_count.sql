-- What becomes of partitions if brokers go: how many, and the first ten.
WITH named AS (
    SELECT snapshot_id, loss, topic, partition, explode(kinds) AS kind FROM lost_partition),
ranked AS (
    SELECT n.*, row_number() OVER (
               PARTITION BY n.snapshot_id, n.loss, n.kind
               ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END, n.topic, n.partition) AS place
    FROM named AS n
    LEFT JOIN lone_topic AS o ON o.snapshot_id = n.snapshot_id AND o.topic = n.topic)
SELECT snapshot_id, loss, kind, count(*) AS partitions, count(DISTINCT topic) AS topics,
       min_by(topic, place, 10) AS first_topics, min_by(partition, place, 10) AS first_partitions
FROM ranked
GROUP BY snapshot_id, loss, kind
