-- What becomes of partitions if brokers go: how many, and the first ten.
WITH named AS (
    SELECT snapshot_id, loss, topic, partition, concat(topic, '-', CAST(partition AS STRING)) AS item, explode(kinds) AS kind
    FROM lost_partition),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY snapshot_id, loss, kind ORDER BY topic, partition) AS place
    FROM named)
SELECT snapshot_id, loss, kind, count(*) AS partitions, count(DISTINCT topic) AS topics,
       transform(sort_array(array_agg(CASE WHEN place <= 10 THEN struct(place, item) END)), x -> x.item) AS first
FROM ranked
GROUP BY snapshot_id, loss, kind
