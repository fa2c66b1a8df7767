-- What becomes of partitions if brokers go: how many, and the first ten.
WITH named AS (
    SELECT snapshot_id, loss, topic, partition, explode(kinds) AS kind FROM lost_partition),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY snapshot_id, loss, kind ORDER BY topic, partition) AS place
    FROM named),
counted AS (
    SELECT snapshot_id, loss, kind, count(*) AS partitions, count(DISTINCT topic) AS topics,
           sort_array(array_agg(CASE WHEN place <= 10 THEN struct(place, topic, partition) END)) AS first
    FROM ranked
    GROUP BY snapshot_id, loss, kind)
SELECT snapshot_id, loss, kind, partitions, topics, transform(first, x -> x.topic) AS first_topics,
       transform(first, x -> x.partition) AS first_partitions
FROM counted
