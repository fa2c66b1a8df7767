-- Partitions of a kind or more, now: the first ten thousand, those of topics that several parties list first, then the first kinds.
WITH brokers AS (
    SELECT snapshot_id, collect_set(broker_id) AS known,
           coalesce(collect_set(CASE WHEN returned THEN broker_id END), array()) AS returned
    FROM known_broker
    WHERE moment = 'now'
    GROUP BY snapshot_id),
ranked AS (
    SELECT f.*, o.topic IS NOT NULL AS alone,
           row_number() OVER (
               PARTITION BY f.snapshot_id
               ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END,
                        CASE get(f.kinds, 0) WHEN 'leaderless' THEN 0 WHEN 'under_min_isr' THEN 1 WHEN 'at_min_isr' THEN 2
                            WHEN 'under_replicated' THEN 3 WHEN 'too_few_replicas' THEN 4 WHEN 'one_rack' THEN 5 ELSE 6 END,
                        f.topic, f.partition) AS place
    FROM faulty_partition AS f
    LEFT JOIN lone_topic AS o ON o.snapshot_id = f.snapshot_id AND o.topic = f.topic)
SELECT w.snapshot_id, w.topic, w.partition, w.replicas, w.leader, coalesce(w.isr, array()) AS isr, w.factor, w.missing,
       sort_array(coalesce(array_except(w.missing, k.known), array())) AS unregistered,
       CASE WHEN p.topic IS NOT NULL
            THEN sort_array(array_except(array_intersect(w.missing, array_except(p.replicas, p.isr)), k.returned))
            WHEN t.alike THEN sort_array(array_except(w.missing, k.returned)) END AS lasting,
       w.min_isr, w.rack, w.moving,
       s.steady AND (w.before OR (
           b.topic IS NOT NULL AND b.leader IS NOT DISTINCT FROM w.leader AND b.isr IS NOT DISTINCT FROM w.isr
           AND b.version IS NOT DISTINCT FROM w.version)) AS repeated,
       w.kinds, w.alone
FROM ranked AS w
JOIN chosen_sample AS s ON s.snapshot_id = w.snapshot_id AND s.moment = 'now'
LEFT JOIN brokers AS k ON k.snapshot_id = w.snapshot_id
LEFT JOIN partition_state AS b
    ON b.snapshot_id = w.snapshot_id AND b.moment = 'before' AND b.topic = w.topic AND b.partition = w.partition
LEFT JOIN partition_state AS p
    ON p.snapshot_id = w.snapshot_id AND p.moment = 'previous' AND p.topic = w.topic AND p.partition = w.partition
LEFT JOIN same_topic AS t ON t.snapshot_id = w.snapshot_id AND t.topic = w.topic
WHERE w.place <= 10000
