-- How many topics and partitions there are by the reference, now.
WITH topics AS (
    SELECT snapshot_id, count_if(NOT deleting) AS topics, count_if(deleting) AS deleting
    FROM topic_state
    WHERE moment = 'now'
    GROUP BY snapshot_id),
partitions AS (
    SELECT snapshot_id, sum(partitions) AS partitions, sum(CASE WHEN leader >= 0 THEN partitions ELSE 0 END) AS led,
           sum(CASE WHEN leader = -1 THEN partitions ELSE 0 END) AS leaderless,
           sum(CASE WHEN leader >= 0 THEN incomplete ELSE 0 END) AS incomplete
    FROM replica_placement
    WHERE first AND NOT deleting
    GROUP BY snapshot_id),
away AS (
    SELECT snapshot_id, count(*) AS partitions FROM absent_replica GROUP BY snapshot_id)
SELECT s.snapshot_id, coalesce(t.topics, 0) AS topics, coalesce(p.partitions, 0) AS partitions,
       coalesce(p.led, 0) AS led, coalesce(p.leaderless, 0) AS leaderless, coalesce(t.deleting, 0) AS deleting,
       coalesce(p.incomplete, 0) AS incomplete, coalesce(a.partitions, 0) AS unregistered
FROM chosen_sample AS s
LEFT JOIN topics AS t ON t.snapshot_id = s.snapshot_id
LEFT JOIN partitions AS p ON p.snapshot_id = s.snapshot_id
LEFT JOIN away AS a ON a.snapshot_id = s.snapshot_id
WHERE s.moment = 'now'
