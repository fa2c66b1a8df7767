-- Leaders and registered followers that are missing in the ISR of partitions with that leader, now. Observers (Confluent Server) are
-- in no ISR, and count as in it.
WITH observed AS (
    SELECT s.snapshot_id, c.topic, max(try_cast(c.value AS BIGINT)) AS observers
    FROM chosen_sample AS s
    JOIN topic_config AS c ON c.snapshot_id = s.source_id AND c.key = 'confluent.placement.constraints'
    WHERE s.moment = 'now'
    GROUP BY s.snapshot_id, c.topic),
excused AS (
    SELECT snapshot_id, leader, replica, count_if(now) AS in_sync, count_if(before) AS in_sync_before
    FROM (SELECT p.snapshot_id, p.leader, p.now, p.before, explode(array_except(p.replicas, p.isr)) AS replica
          FROM sampled_partition AS p
          JOIN observed AS o ON o.snapshot_id = p.snapshot_id AND o.topic = p.topic
          WHERE size(array_except(p.replicas, p.isr)) <= o.observers)
    GROUP BY snapshot_id, leader, replica),
added AS (
    SELECT snapshot_id, leader, replica, count(*) AS partitions
    FROM (SELECT p.snapshot_id, p.leader, explode(array_except(array_intersect(p.replicas, m.adding), p.isr)) AS replica
          FROM sampled_partition AS p
          JOIN reassigned AS m
              ON m.snapshot_id = p.snapshot_id AND m.moment = 'now' AND m.topic = p.topic AND m.partition = p.partition
          WHERE p.now)
    GROUP BY snapshot_id, leader, replica),
summed AS (
    SELECT snapshot_id, leader, replica, sum(partitions) AS partitions, sum(in_sync) AS in_sync, min(oldest) AS oldest,
           max(newest) AS newest, sum(partitions_before) AS partitions_before, sum(in_sync_before) AS in_sync_before,
           max(newest_before) AS newest_before
    FROM replica_placement
    WHERE leader >= 0 AND several
    GROUP BY snapshot_id, leader, replica),
counted AS (
    SELECT c.snapshot_id, c.leader, c.replica, c.partitions, c.in_sync + coalesce(x.in_sync, 0) AS in_sync, c.oldest, c.newest,
           c.partitions_before, c.in_sync_before + coalesce(x.in_sync_before, 0) AS in_sync_before, c.newest_before
    FROM summed AS c
    LEFT JOIN excused AS x ON x.snapshot_id = c.snapshot_id AND x.leader = c.leader AND x.replica = c.replica),
placed AS (
    SELECT *,
           sum(in_sync) OVER (PARTITION BY snapshot_id, replica) > in_sync AS follows_others,
           sum(CASE WHEN replica = leader THEN 0 ELSE in_sync END) OVER (PARTITION BY snapshot_id, leader) = 0 AS leader_alone
    FROM counted),
offline AS (
    SELECT DISTINCT o.snapshot_id, v.leader, v.replica
    FROM (SELECT snapshot_id, topic_digest, topic, leader, explode(offline_replicas) AS replica FROM view_partition
          WHERE size(offline_replicas) > 0) AS v
    JOIN view_topic AS t ON t.snapshot_id = v.snapshot_id AND t.topic_digest = v.topic_digest AND t.topic = v.topic
    JOIN observer_view AS o ON o.source_id = t.snapshot_id AND o.topics_digest = t.topics_digest AND o.moment = 'now')
SELECT n.snapshot_id, n.leader, n.replica, n.partitions, n.in_sync,
       s.steady AND n.partitions_before = n.partitions AND n.in_sync_before = n.in_sync
           AND coalesce(n.newest_before = n.newest, false) AS repeated,
       n.oldest AS oldest_version, n.follows_others, n.leader_alone, o.leader IS NOT NULL AS listed_offline,
       coalesce(a.partitions >= n.partitions - n.in_sync, false) AS added
FROM placed AS n
JOIN chosen_sample AS s ON s.snapshot_id = n.snapshot_id AND s.moment = 'now'
JOIN known_broker AS k ON k.snapshot_id = n.snapshot_id AND k.moment = 'now' AND k.broker_id = n.replica
LEFT JOIN offline AS o ON o.snapshot_id = n.snapshot_id AND o.leader = n.leader AND o.replica = n.replica
LEFT JOIN added AS a ON a.snapshot_id = n.snapshot_id AND a.leader = n.leader AND a.replica = n.replica
WHERE n.leader <> n.replica AND n.in_sync < n.partitions
