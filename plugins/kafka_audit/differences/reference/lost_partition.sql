-- What becomes of each partition in whose ISR a replica is that goes, for each loss; and of the loss named '', which is nothing: what
-- is so already. Topics in deletion are left out. The leader is the first replica that runs and is in the ISR, or without any of these
-- in the ELR (KIP-966). `enough`: with so many copies left, nothing becomes of a partition, unless
-- a broker with a copy may lead it and is not reached (`barred`). A copy that does not reach the next leader does not stay in sync.
WITH settings AS (
    SELECT s.snapshot_id, c.topic, max(CASE WHEN c.key = 'min.insync.replicas' THEN try_cast(c.value AS BIGINT) END) AS min_isr,
           max(CASE WHEN c.key = 'unclean.leader.election.enable' THEN lower(c.value) = 'true' END) AS unclean
    FROM chosen_sample AS s
    JOIN topic_config AS c
        ON c.snapshot_id = s.source_id AND c.key IN ('min.insync.replicas', 'unclean.leader.election.enable')
    WHERE s.moment = 'now'
    GROUP BY s.snapshot_id, c.topic),
state AS (
    SELECT n.snapshot_id, n.topic, n.partition, n.replicas, n.leader, c.min_isr, c.unclean, a.down, r.several, r.margin AS most,
           greatest(2, coalesce(c.min_isr, r.min_isr, 0)) AS enough,
           n.topic IN ('__consumer_offsets', '__transaction_state', '__share_group_state') AS coordinates,
           CASE WHEN size(n.isr) > 0
                THEN filter(n.replicas, x -> array_contains(n.isr, x) AND NOT coalesce(array_contains(a.down, x), false))
                ELSE filter(n.replicas, x -> false) END AS in_sync,
           CASE WHEN k.brokers IS NOT NULL
                THEN filter(n.replicas, x -> array_contains(k.brokers, x) AND NOT coalesce(array_contains(a.down, x), false))
                END AS eligible,
           coalesce(arrays_overlap(n.isr, r.unreached), false) AS barred
    FROM sampled_partition AS n
    JOIN cluster_state AS r ON r.snapshot_id = n.snapshot_id
    LEFT JOIN settings AS c ON c.snapshot_id = n.snapshot_id AND c.topic = n.topic
    LEFT JOIN absent_replica AS a ON a.snapshot_id = n.snapshot_id AND a.topic = n.topic AND a.partition = n.partition
    LEFT JOIN known_eligible AS k ON k.snapshot_id = n.snapshot_id AND k.topic = n.topic AND k.partition = n.partition
    WHERE n.now AND NOT n.deleting),
hit AS (
    -- what every loss leaves enough of is dropped before partitions are multiplied by losses
    SELECT p.*, l.loss, l.margin, l.brokers AS gone, false AS stuck
    FROM (SELECT *, explode(in_sync) AS broker_id FROM state
          WHERE coordinates OR several OR barred OR size(in_sync) - 1 < enough + most) AS p
    JOIN (SELECT *, explode(brokers) AS broker_id FROM broker_loss) AS l
        ON l.snapshot_id = p.snapshot_id AND l.broker_id = p.broker_id
    LEFT JOIN lost_replica AS d
        ON d.snapshot_id = p.snapshot_id AND d.loss = l.loss AND d.topic = p.topic AND d.partition = p.partition
    WHERE d.loss IS NULL AND (p.coordinates OR p.barred OR size(p.in_sync) - 1 < p.enough + l.margin OR size(l.brokers) > 1)
        AND (size(l.brokers) = 1 OR p.broker_id = get(filter(p.in_sync, x -> array_contains(l.brokers, x)), 0))
    UNION ALL
    SELECT p.*, CAST(NULL AS BIGINT) AS broker_id, d.loss, d.margin,
           CASE WHEN l.brokers IS NULL THEN d.brokers ELSE flatten(array(l.brokers, d.brokers)) END AS gone,
           array_contains(d.stay, p.leader) AND NOT coalesce(array_contains(l.brokers, p.leader), false) AS stuck
    FROM lost_replica AS d
    JOIN state AS p ON p.snapshot_id = d.snapshot_id AND p.topic = d.topic AND p.partition = d.partition
    LEFT JOIN broker_loss AS l ON l.snapshot_id = d.snapshot_id AND l.loss = d.loss
    WHERE arrays_overlap(p.in_sync, d.brokers) OR arrays_overlap(p.in_sync, l.brokers)),
after AS (
    SELECT snapshot_id, topic, partition, replicas, leader, min_isr, unclean, loss, margin, size(in_sync) AS before,
           stuck, coordinates AND array_contains(gone, leader) AS led, filter(in_sync, x -> NOT array_contains(gone, x)) AS rest,
           filter(eligible, x -> NOT array_contains(gone, x)) AS eligible,
           size(filter(replicas, x -> NOT coalesce(array_contains(down, x), false) AND NOT array_contains(gone, x))) AS others
    FROM hit
    UNION ALL
    SELECT snapshot_id, topic, partition, replicas, leader, min_isr, unclean, '', 0, size(in_sync), false, false, in_sync,
           eligible, size(filter(replicas, x -> NOT coalesce(array_contains(down, x), false)))
    FROM state
    WHERE size(in_sync) < enough OR leader = -1),
placed AS (
    SELECT *, CASE WHEN loss = '' THEN CASE WHEN leader >= 0 THEN leader END
                   WHEN array_contains(rest, leader) THEN leader ELSE coalesce(get(rest, 0), get(eligible, 0)) END AS next
    FROM after),
ruled AS (
    SELECT p.snapshot_id, p.topic, p.partition, p.leader, p.loss, p.margin, p.before, p.stuck, p.led, p.next,
           size(CASE WHEN p.loss = '' OR u.broker_id IS NULL THEN p.rest
                     ELSE filter(p.rest, x -> NOT array_contains(u.sources, x)) END) AS copies,
           p.loss <> '' AND u.by_clients AND p.next <> p.leader AND NOT coalesce(w.by_clients, false) AS unreached,
           p.loss <> '' AND coalesce(arrays_overlap(p.rest, u.sources), false) AS cut,
           p.others > size(p.rest) AS beside,
           coalesce(p.min_isr, CASE WHEN b.broker_id IS NULL AND p.next >= 0 THEN r.min_isr ELSE b.min_isr END) AS min_isr,
           CASE WHEN coalesce(b.capped, r.capped) THEN size(p.replicas) END AS most, size(p.replicas) AS factor,
           p.eligible IS NULL AND coalesce(e.eligible, false) AS unasked,
           coalesce(size(p.eligible), 0) > 0 AS eligible,
           CASE WHEN e.unclean_used THEN coalesce(p.unclean, e.unclean) ELSE false END AS unclean
    FROM placed AS p
    JOIN cluster_state AS r ON r.snapshot_id = p.snapshot_id
    LEFT JOIN known_broker AS b
        ON b.snapshot_id = p.snapshot_id AND b.moment = 'now' AND b.broker_id = coalesce(p.next, p.leader)
    LEFT JOIN unreached_broker AS u ON u.snapshot_id = p.snapshot_id AND u.broker_id = p.next
    LEFT JOIN unreached_broker AS w ON w.snapshot_id = p.snapshot_id AND w.broker_id = p.leader
    LEFT JOIN election_rule AS e ON e.snapshot_id = p.snapshot_id),
needing AS (
    SELECT *, CASE WHEN most < min_isr THEN most ELSE min_isr END AS needed,
           CASE WHEN stuck THEN 0 WHEN copies > 0 THEN copies WHEN eligible OR (beside AND unclean) THEN 1 ELSE 0 END AS remaining
    FROM ruled),
sorted AS (
    SELECT snapshot_id, loss, topic, partition, array_compact(array(
               CASE WHEN remaining = 0 OR (loss = '' AND leader = -1) THEN 'offline' END,
               CASE WHEN copies = 0 AND remaining = 1 AND NOT eligible AND loss <> '' THEN 'unclean' END,
               CASE WHEN remaining > 0 AND unreached THEN 'unreached' END,
               CASE WHEN remaining > 0 AND remaining < needed AND (loss <> '' OR leader >= 0) THEN 'not_writable' END,
               CASE WHEN remaining = 1 AND loss <> '' THEN 'at_risk' END,
               CASE WHEN remaining = 1 AND loss <> '' AND factor > 2 AND (before < factor OR cut) THEN 'last_copy' END,
               CASE WHEN remaining > 0 AND margin > 0 AND remaining < greatest(coalesce(needed, 1), 1) + margin
                    THEN 'below_margin' END,
               CASE WHEN remaining > 0 AND led THEN 'moved' END,
               CASE WHEN copies = 0 AND loss <> '' AND beside AND NOT eligible AND unclean IS NULL THEN 'unclean_unknown' END,
               CASE WHEN copies = 0 AND loss <> '' AND beside AND unasked AND before < coalesce(needed, before + 1)
                    THEN 'eligible_unknown' END)) AS kinds
    FROM needing)
SELECT snapshot_id, loss, topic, partition, kinds
FROM sorted
WHERE size(kinds) > 0
