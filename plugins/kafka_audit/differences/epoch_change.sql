-- Leader epochs that rose by 20 or more since the previous snapshot, and every ten minutes or faster, or that fell in every sample.
WITH changed AS (
    SELECT p.snapshot_id, p.topic, p.partition, p.replicas, p.previous_epoch, p.leader_epoch,
           CASE WHEN p.leader_epoch < p.previous_epoch THEN 'fell' ELSE 'rose' END AS kind,
           abs(p.leader_epoch - p.previous_epoch) AS amount
    FROM same_partition AS p
    JOIN chosen_sample AS s ON s.snapshot_id = p.snapshot_id AND s.moment = 'now'
    WHERE (p.leader_epoch < p.previous_epoch AND coalesce(p.before_epoch, p.leader_epoch) < p.previous_epoch)
        OR (p.leader_epoch - p.previous_epoch >= 20
            AND (p.leader_epoch - p.previous_epoch) * 10 > greatest(coalesce(s.minutes, 1), 1))),
ranked AS (
    SELECT c.*, row_number() OVER (
               PARTITION BY c.snapshot_id, c.kind ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END, c.topic, c.partition) AS place
    FROM changed AS c
    LEFT JOIN lone_topic AS o ON o.snapshot_id = c.snapshot_id AND o.topic = c.topic),
counted AS (
    SELECT snapshot_id, kind, count(*) AS partitions, max(amount) AS most,
           min_by(topic || '-' || CAST(partition AS STRING), place, 10) AS first, min_by(previous_epoch, place, 10) AS before,
           min_by(leader_epoch, place, 10) AS after
    FROM ranked
    GROUP BY snapshot_id, kind),
held AS (
    SELECT snapshot_id, broker_id, count(*) AS share
    FROM (SELECT snapshot_id, explode(replicas) AS broker_id FROM changed WHERE kind = 'rose')
    GROUP BY snapshot_id, broker_id),
most_held AS (
    SELECT *, row_number() OVER (PARTITION BY snapshot_id ORDER BY share DESC, broker_id DESC) AS place FROM held)
SELECT c.*, h.broker_id, h.share
FROM counted AS c
LEFT JOIN most_held AS h ON h.snapshot_id = c.snapshot_id AND h.place = 1 AND c.kind = 'rose'
