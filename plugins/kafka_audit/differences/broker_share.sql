-- What each broker holds by the reference, now.
WITH held AS (
    SELECT snapshot_id, explode(array_union(replicas, array(leader))) AS broker_id, replicas, leader, isr, deleting
    FROM partition_state
    WHERE moment = 'now'),
counted AS (
    SELECT snapshot_id, broker_id, array_contains(replicas, broker_id) AS assigned,
           array_contains(isr, broker_id) AS in_sync, leader,
           leader >= 0 AND get(replicas, 0) = broker_id AND array_contains(isr, broker_id) AND NOT deleting AS preferred
    FROM held
    WHERE broker_id >= 0)
SELECT snapshot_id, broker_id, count_if(assigned) AS replicas, count_if(assigned AND in_sync) AS in_sync,
       count_if(assigned AND leader = -1) AS leaderless, count_if(leader = broker_id) AS led, count_if(preferred) AS preferred,
       count_if(preferred AND leader <> broker_id) AS preferred_elsewhere
FROM counted
GROUP BY snapshot_id, broker_id
