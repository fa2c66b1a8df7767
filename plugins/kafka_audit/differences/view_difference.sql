-- What each view says of topics and partitions that the reference does not: counted by observer, kind and whether the sample before
-- shows the same.
WITH ranked AS (
    SELECT d.*,
           dense_rank() OVER (PARTITION BY d.snapshot_id, d.name, d.kind, d.repeated
                              ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END, d.topic, d.partition) AS place,
           row_number() OVER (PARTITION BY d.snapshot_id, d.name, d.kind, d.repeated, d.topic, d.partition
                              ORDER BY d.listener, d.view_leader) AS copy
    FROM disagreement AS d
    LEFT JOIN lone_topic AS o ON o.snapshot_id = d.snapshot_id AND o.topic = d.topic)
SELECT snapshot_id, name, kind, repeated,
       sum(CASE WHEN copy = 1 THEN partitions ELSE 0 END) AS partitions,
       min_by(concat_ws('-', topic, CAST(partition AS STRING)), CASE WHEN copy = 1 THEN place END, 10) AS first,
       slice(sort_array(coalesce(collect_set(broker_id), array())), 1, 10) AS brokers,
       sort_array(collect_set(listener)) AS listeners,
       max(CASE WHEN place = 1 AND copy = 1 THEN leader END) AS leader,
       max(CASE WHEN place = 1 AND copy = 1 THEN leader_epoch END) AS leader_epoch,
       max(CASE WHEN place = 1 AND copy = 1 THEN replicas END) AS replicas,
       max(CASE WHEN place = 1 AND copy = 1 THEN isr END) AS isr,
       max(CASE WHEN place = 1 AND copy = 1 THEN view_error END) AS view_error,
       max(CASE WHEN place = 1 AND copy = 1 THEN view_leader END) AS view_leader,
       max(CASE WHEN place = 1 AND copy = 1 THEN view_leader_epoch END) AS view_leader_epoch,
       max(CASE WHEN place = 1 AND copy = 1 THEN view_replicas END) AS view_replicas,
       max(CASE WHEN place = 1 AND copy = 1 THEN view_isr END) AS view_isr
FROM ranked
GROUP BY snapshot_id, name, kind, repeated
