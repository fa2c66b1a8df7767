-- What each broker led in the previous snapshot, and what of it others lead now, over topics that are the same in both.
WITH led AS (
    SELECT snapshot_id, previous_leader AS broker_id, topic, partition, leader, leader IS DISTINCT FROM previous_leader AS moved
    FROM same_partition
    WHERE previous_leader >= 0),
counted AS (
    SELECT snapshot_id, broker_id, count(*) AS led, count_if(moved) AS moved,
           collect_set(CASE WHEN moved THEN coalesce(leader, -1) END) AS leaders
    FROM led
    GROUP BY snapshot_id, broker_id),
kept AS (
    SELECT snapshot_id, leader AS broker_id, sum(partitions) AS led
    FROM replica_placement
    WHERE alike AND first AND leader >= 0 AND partitions > 0
    GROUP BY snapshot_id, leader),
ranked AS (
    SELECT l.snapshot_id, l.broker_id, l.topic || '-' || CAST(l.partition AS STRING) AS item,
           row_number() OVER (PARTITION BY l.snapshot_id, l.broker_id
                              ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END, l.topic, l.partition) AS place
    FROM led AS l
    LEFT JOIN lone_topic AS o ON o.snapshot_id = l.snapshot_id AND o.topic = l.topic
    WHERE l.moved),
listed AS (
    SELECT snapshot_id, broker_id, min_by(item, place, 10) AS items
    FROM ranked
    GROUP BY snapshot_id, broker_id)
SELECT coalesce(c.snapshot_id, k.snapshot_id) AS snapshot_id, coalesce(c.broker_id, k.broker_id) AS broker_id,
       coalesce(c.led, 0) + coalesce(k.led, 0) AS led, coalesce(c.moved, 0) AS moved,
       coalesce(l.items, array()) AS first, coalesce(sort_array(c.leaders), array()) AS leaders
FROM counted AS c
FULL OUTER JOIN kept AS k ON k.snapshot_id = c.snapshot_id AND k.broker_id = c.broker_id
LEFT JOIN listed AS l ON l.snapshot_id = c.snapshot_id AND l.broker_id = c.broker_id
