-- How many topics and partitions there are by the reference, now and in the previous snapshot.
WITH topics AS (
    SELECT snapshot_id, moment, count_if(NOT deleting) AS topics, count_if(deleting) AS deleting
    FROM topic_state
    GROUP BY snapshot_id, moment),
brokers AS (
    SELECT snapshot_id, moment, collect_set(broker_id) AS known FROM known_broker GROUP BY snapshot_id, moment),
partitions AS (
    SELECT p.snapshot_id, p.moment, count(*) AS partitions, count_if(p.leader >= 0) AS led, count_if(p.leader = -1) AS leaderless,
           count_if(p.leader >= 0 AND size(array_except(p.replicas, p.isr)) > 0) AS incomplete,
           count_if(size(array_except(p.replicas, b.known)) > 0) AS unregistered,
           count_if(size(array_except(p.replicas, b.known)) > 0 AND (p.leader = -1 OR NOT array_contains(b.known, p.leader)))
               AS unregistered_leaderless
    FROM partition_state AS p
    LEFT JOIN brokers AS b ON b.snapshot_id = p.snapshot_id AND b.moment = p.moment
    WHERE NOT p.deleting
    GROUP BY p.snapshot_id, p.moment)
SELECT s.snapshot_id, s.moment, coalesce(t.topics, 0) AS topics, coalesce(p.partitions, 0) AS partitions,
       coalesce(p.led, 0) AS led, coalesce(p.leaderless, 0) AS leaderless, coalesce(t.deleting, 0) AS deleting,
       coalesce(p.incomplete, 0) AS incomplete, coalesce(p.unregistered, 0) AS unregistered,
       coalesce(p.unregistered_leaderless, 0) AS unregistered_leaderless
FROM chosen_sample AS s
LEFT JOIN topics AS t ON t.snapshot_id = s.snapshot_id AND t.moment = s.moment
LEFT JOIN partitions AS p ON p.snapshot_id = s.snapshot_id AND p.moment = s.moment
WHERE s.moment IN ('now', 'previous')
