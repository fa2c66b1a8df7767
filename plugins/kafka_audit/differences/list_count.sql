-- How many partitions each list of topics of either sample shows, for all observers, how many of the reference's it lacks, and
-- between which brokers they are.
WITH lists AS (
    -- 'now' comes last: a list of both samples is compared in the newer one
    SELECT snapshot_id, source_id, topics_digest, max(moment) AS moment
    FROM observer_view
    GROUP BY snapshot_id, source_id, topics_digest),
content AS (
    SELECT snapshot_id, topic_digest, topic, count(*) AS partitions, count_if(leader >= 0) AS led,
           min(array_min(replicas)) AS lowest, max(array_max(replicas)) AS highest
    FROM view_partition
    GROUP BY snapshot_id, topic_digest, topic),
shown AS (
    SELECT l.snapshot_id, l.topics_digest, sum(c.partitions) AS partitions, sum(c.led) AS led, min(c.lowest) AS lowest,
           max(c.highest) AS highest
    FROM lists AS l
    JOIN view_topic AS v ON v.snapshot_id = l.source_id AND v.topics_digest = l.topics_digest
    JOIN content AS c ON c.snapshot_id = v.snapshot_id AND c.topic_digest = v.topic_digest AND c.topic = v.topic
    GROUP BY l.snapshot_id, l.topics_digest),
lacking AS (
    SELECT l.snapshot_id, l.topics_digest, sum(t.partitions) AS missing
    FROM lists AS l
    JOIN lacking_topic AS t
        ON t.snapshot_id = l.snapshot_id AND t.moment = l.moment AND t.topics_digest = l.topics_digest
    GROUP BY l.snapshot_id, l.topics_digest),
away AS (
    SELECT snapshot_id, topics_digest, slice(sort_array(collect_set(broker_id)), 1, 1000) AS brokers
    FROM offline_follower
    GROUP BY snapshot_id, topics_digest)
SELECT l.snapshot_id, l.topics_digest, coalesce(s.partitions, 0) AS partitions, coalesce(s.led, 0) AS led,
       coalesce(m.missing, 0) AS missing, sort_array(array_distinct(array_compact(array(s.lowest, s.highest)))) AS brokers,
       coalesce(a.brokers, array()) AS offline_in_sync
FROM lists AS l
LEFT JOIN shown AS s ON s.snapshot_id = l.snapshot_id AND s.topics_digest = l.topics_digest
LEFT JOIN lacking AS m ON m.snapshot_id = l.snapshot_id AND m.topics_digest = l.topics_digest
LEFT JOIN away AS a ON a.snapshot_id = l.snapshot_id AND a.topics_digest = l.topics_digest
