-- Partitions under reassignment, and whether the previous snapshot had the same one at the same point.
WITH brokers AS (
    SELECT snapshot_id, collect_set(broker_id) AS known FROM known_broker WHERE moment = 'now' GROUP BY snapshot_id)
SELECT m.snapshot_id, m.topic, m.partition, m.adding, m.removing, n.isr,
       q.topic IS NOT NULL AND p.topic IS NOT NULL AND coalesce(size(array_except(p.isr, p.previous_isr)) = 0, true) AS repeated,
       sort_array(array_except(m.adding, coalesce(k.known, array()))) AS unregistered
FROM reassigned AS m
LEFT JOIN brokers AS k ON k.snapshot_id = m.snapshot_id
LEFT JOIN reassigned AS q
    ON q.snapshot_id = m.snapshot_id AND q.moment = 'previous' AND q.topic = m.topic AND q.partition = m.partition
    AND q.adding = m.adding AND q.removing = m.removing
LEFT JOIN partition_state AS n
    ON n.snapshot_id = m.snapshot_id AND n.moment = 'now' AND n.topic = m.topic AND n.partition = m.partition
LEFT JOIN same_partition AS p ON p.snapshot_id = m.snapshot_id AND p.topic = m.topic AND p.partition = m.partition
WHERE m.moment = 'now'
