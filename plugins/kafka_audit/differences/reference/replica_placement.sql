-- How many partitions there are of each leader and each of their replicas, in the newest sample and the one before it. A partition
-- without replicas counts once, with replica -1. `first`: the replica is the preferred one. `alike`: of topics in which nothing
-- changed since the previous snapshot.
WITH placed AS (
    SELECT p.snapshot_id, p.leader, p.replicas, p.isr, p.version, p.controller_epoch, p.recovery_state, p.deleting, p.now, p.before,
           coalesce(t.alike, false) AS alike, size(p.replicas) > 1 AS several, coalesce(get(p.replicas, 0), -1) AS preferred,
           size(array_except(p.replicas, p.isr)) > 0 AS incomplete,
           coalesce(size(p.replicas) > 0 AND size(array_except(p.replicas, p.isr)) = 0, false) AS complete
    FROM sampled_partition AS p
    LEFT JOIN same_topic AS t ON t.snapshot_id = p.snapshot_id AND t.topic = p.topic),
copy AS (
    -- Of a complete partition no replica's row holds the list.
    SELECT snapshot_id, leader, version, controller_epoch, recovery_state, deleting, now, before, alike, several, preferred,
           incomplete, complete, CASE WHEN NOT complete THEN isr END AS isr,
           explode(CASE WHEN size(replicas) > 0 THEN array_distinct(replicas) ELSE array(CAST(-1 AS BIGINT)) END) AS replica
    FROM placed),
replica AS (
    SELECT *, complete OR coalesce(array_contains(isr, replica), false) AS in_isr FROM copy)
SELECT snapshot_id, leader, replica, replica = preferred AS first, several, deleting, alike,
       count_if(now) AS partitions, count_if(now AND in_isr) AS in_sync,
       count_if(now AND incomplete) AS incomplete, min(CASE WHEN now THEN version END) AS oldest,
       max(CASE WHEN now THEN version END) AS newest, max(CASE WHEN now THEN controller_epoch END) AS controller_epoch,
       count_if(now AND recovery_state = 1) AS recovering,
       count_if(before) AS partitions_before, count_if(before AND in_isr) AS in_sync_before,
       max(CASE WHEN before THEN version END) AS newest_before
FROM replica
GROUP BY snapshot_id, leader, replica, replica = preferred, several, deleting, alike
