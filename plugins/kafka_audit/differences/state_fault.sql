-- States in ZooKeeper that were written with a controller epoch above /controller_epoch, or by a leader that was elected unclean
-- and has not recovered.
WITH suspect AS (
    -- seldom any: then no partition is read
    SELECT DISTINCT p.snapshot_id
    FROM replica_placement AS p
    JOIN chosen_sample AS s ON s.snapshot_id = p.snapshot_id AND s.moment = 'now'
    WHERE p.controller_epoch > s.controller_epoch OR p.recovering > 0),
fault AS (
    SELECT n.snapshot_id, n.topic, n.partition, n.controller_epoch,
           CASE WHEN n.controller_epoch > s.controller_epoch THEN 1 ELSE 0 END AS ahead,
           CASE WHEN n.recovery_state = 1 THEN 1 ELSE 0 END AS recovering,
           coalesce(n.version <= s.first_zxid, false) AS stood_before,
           s.steady AND (n.before OR coalesce(b.version = n.version, false)) AS same,
           n.before OR coalesce(b.recovery_state = 1, false) AS recovering_before
    FROM suspect AS o
    JOIN sampled_partition AS n ON n.snapshot_id = o.snapshot_id
    JOIN chosen_sample AS s ON s.snapshot_id = n.snapshot_id AND s.moment = 'now'
    LEFT JOIN sampled_partition AS b
        ON b.snapshot_id = n.snapshot_id AND b.before AND b.topic = n.topic AND b.partition = n.partition
    WHERE n.now AND (n.controller_epoch > s.controller_epoch OR n.recovery_state = 1)),
kinds AS (
    SELECT snapshot_id, 'ahead' AS kind, topic, partition, controller_epoch, stood_before OR same AS repeated
    FROM fault
    WHERE ahead = 1
    UNION ALL
    SELECT snapshot_id, 'recovering', topic, partition, NULL, same AND recovering_before FROM fault WHERE recovering = 1),
ranked AS (
    SELECT k.*, row_number() OVER (
               PARTITION BY k.snapshot_id, k.kind, k.repeated
               ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END, k.topic, k.partition) AS place
    FROM kinds AS k
    LEFT JOIN lone_topic AS o ON o.snapshot_id = k.snapshot_id AND o.topic = k.topic)
SELECT snapshot_id, kind, count(*) AS partitions, count_if(repeated) AS repeated,
       coalesce(min_by(topic || '-' || CAST(partition AS STRING), CASE WHEN repeated THEN place END, 10), array()) AS first,
       coalesce(min_by(controller_epoch, CASE WHEN repeated AND kind = 'ahead' THEN place END, 10), array()) AS epochs,
       max(controller_epoch) AS controller_epoch
FROM ranked
GROUP BY snapshot_id, kind
