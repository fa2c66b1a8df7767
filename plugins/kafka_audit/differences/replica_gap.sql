-- Leaders and registered followers that are missing in the ISR of partitions with that leader, now.
WITH copies AS (
    SELECT snapshot_id, moment, leader, explode(replicas) AS replica, isr, version
    FROM partition_state
    WHERE moment <> 'previous' AND leader >= 0 AND size(replicas) > 1),
counted AS (
    SELECT snapshot_id, moment, leader, replica, count(*) AS partitions, count_if(array_contains(isr, replica)) AS in_sync,
           min(version) AS oldest, max(version) AS newest
    FROM copies
    GROUP BY snapshot_id, moment, leader, replica),
placed AS (
    SELECT snapshot_id, moment, leader, replica, partitions, in_sync, oldest, newest,
           sum(in_sync) OVER (PARTITION BY snapshot_id, moment, replica) > in_sync AS follows_others,
           sum(CASE WHEN replica = leader THEN 0 ELSE in_sync END) OVER (PARTITION BY snapshot_id, moment, leader) = 0
               AS leader_alone
    FROM counted),
offline AS (
    SELECT DISTINCT o.snapshot_id, v.leader, v.replica
    FROM (SELECT snapshot_id, topic_digest, topic, leader, explode(offline_replicas) AS replica FROM view_partition
          WHERE size(offline_replicas) > 0) AS v
    JOIN view_topic AS t ON t.snapshot_id = v.snapshot_id AND t.topic_digest = v.topic_digest AND t.topic = v.topic
    JOIN observer_view AS o ON o.source_id = t.snapshot_id AND o.topics_digest = t.topics_digest AND o.moment = 'now')
SELECT n.snapshot_id, n.leader, n.replica, n.partitions, n.in_sync, b.leader IS NOT NULL AND s.steady AS repeated,
       n.oldest AS oldest_version, n.follows_others, n.leader_alone, o.leader IS NOT NULL AS listed_offline
FROM placed AS n
JOIN chosen_sample AS s ON s.snapshot_id = n.snapshot_id AND s.moment = 'now'
JOIN known_broker AS k ON k.snapshot_id = n.snapshot_id AND k.moment = 'now' AND k.broker_id = n.replica
LEFT JOIN placed AS b
    ON b.snapshot_id = n.snapshot_id AND b.moment = 'before' AND b.leader = n.leader AND b.replica = n.replica
    AND b.partitions = n.partitions AND b.in_sync = n.in_sync AND b.newest = n.newest
LEFT JOIN offline AS o ON o.snapshot_id = n.snapshot_id AND o.leader = n.leader AND o.replica = n.replica
WHERE n.moment = 'now' AND n.leader <> n.replica AND n.in_sync < n.partitions
