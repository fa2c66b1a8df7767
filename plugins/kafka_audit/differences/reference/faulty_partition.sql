-- Partitions of any kind of `ReplicaState`, now. Topics in deletion are left out. Observers (Confluent Server) are in no ISR. `before`: nothing of it changed between the samples.
WITH brokers AS (
    SELECT snapshot_id, broker_id, min_isr, capped, rack FROM known_broker WHERE moment = 'now'),
racks AS (
    -- where there are several: a list for each of them, and none for each broker
    SELECT r.snapshot_id, r.rack, collect_list(r.broker_id) AS beside
    FROM brokers AS r
    JOIN (SELECT snapshot_id FROM brokers GROUP BY snapshot_id HAVING min(rack) < max(rack)) AS s ON s.snapshot_id = r.snapshot_id
    GROUP BY r.snapshot_id, r.rack),
settings AS (
    SELECT s.snapshot_id, c.topic, max(CASE WHEN c.key = 'min.insync.replicas' THEN try_cast(c.value AS BIGINT) END) AS min_isr,
           max(CASE WHEN c.key <> 'min.insync.replicas' THEN try_cast(c.value AS BIGINT) END) AS observers
    FROM chosen_sample AS s
    JOIN topic_config AS c
        ON c.snapshot_id = s.source_id AND c.key IN ('min.insync.replicas', 'confluent.placement.constraints')
    WHERE s.moment = 'now'
    GROUP BY s.snapshot_id, c.topic),
state AS (
    SELECT n.snapshot_id, n.topic, n.partition, n.replicas, n.leader, n.isr, n.version, n.before,
           array_except(n.replicas, coalesce(m.adding, array())) AS assigned, coalesce(c.min_isr, b.min_isr) AS needed,
           coalesce(c.observers, 0) AS observers,
           coalesce(b.capped, false) AS capped, coalesce(size(m.adding) + size(m.removing), 0) > 0 AS moving,
           CASE WHEN size(n.replicas) > 1 AND size(array_except(n.replicas, r.beside)) = 0 THEN r.rack END AS rack
    FROM sampled_partition AS n
    LEFT JOIN brokers AS b
        ON b.snapshot_id = n.snapshot_id AND b.broker_id = CASE WHEN n.leader >= 0 THEN n.leader ELSE get(n.replicas, 0) END
    LEFT JOIN racks AS r ON r.snapshot_id = b.snapshot_id AND r.rack = b.rack
    LEFT JOIN settings AS c ON c.snapshot_id = n.snapshot_id AND c.topic = n.topic
    LEFT JOIN reassigned AS m
        ON m.snapshot_id = n.snapshot_id AND m.moment = 'now' AND m.topic = n.topic AND m.partition = n.partition
    WHERE n.now AND NOT n.deleting),
sized AS (
    SELECT *, CASE WHEN size(assigned) = 0 THEN size(replicas) ELSE size(assigned) END AS factor,
           CASE WHEN size(array_except(assigned, isr)) > observers
                THEN sort_array(coalesce(array_except(assigned, isr), array())) ELSE filter(assigned, x -> false) END AS missing,
           CASE WHEN capped AND needed > size(replicas) THEN size(replicas) ELSE needed END AS min_isr
    FROM state
    WHERE leader = -1 OR size(isr) < size(replicas) OR size(replicas) <= coalesce(needed, 1) OR rack IS NOT NULL),
sorted AS (
    SELECT *, array_compact(array(
               CASE WHEN leader = -1 THEN 'leaderless' END,
               CASE WHEN leader >= 0 AND size(isr) < min_isr THEN 'under_min_isr' END,
               CASE WHEN leader >= 0 AND size(isr) = min_isr AND size(missing) > 0 THEN 'at_min_isr' END,
               CASE WHEN leader >= 0 AND size(missing) > 0 THEN 'under_replicated' END,
               CASE WHEN factor > 1 AND factor <= min_isr THEN 'too_few_replicas' END,
               CASE WHEN rack IS NOT NULL THEN 'one_rack' END,
               CASE WHEN size(replicas) = 1
                        AND topic NOT IN
                            ('__consumer_offsets', '__transaction_state', '__share_group_state', '__remote_log_metadata')
                    THEN 'single_replica' END)) AS kinds
    FROM sized)
SELECT snapshot_id, topic, partition, replicas, leader, isr, version, before, factor, missing, min_isr, rack, moving, kinds
FROM sorted
WHERE size(kinds) > 0
