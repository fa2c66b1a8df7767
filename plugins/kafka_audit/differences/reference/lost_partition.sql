-- What becomes of each partition in whose ISR a replica is that goes, for each loss; and of the loss named '', which is nothing: what
-- is so already. Topics in deletion are left out. The leader is the first replica that runs and is in the ISR, or without any of these
-- in the ELR (KIP-966). `enough`: with so many copies left, nothing becomes of a partition.
-- A broker that Metadata does not list, and runs, is a loss, too, where brokers are.
WITH listed AS (
    SELECT snapshot_id, collect_set(broker_id) AS brokers, max(coalesce(min_isr, 0)) AS min_isr,
           min(CASE WHEN capped THEN 1 ELSE 0 END) = 1 AS capped
    FROM known_broker
    WHERE moment = 'now'
    GROUP BY snapshot_id),
unlisted AS (
    SELECT f.snapshot_id, collect_set(f.broker_id) AS brokers
    FROM offline_follower AS f
    JOIN reference_list AS r
        ON r.snapshot_id = f.snapshot_id AND r.moment = 'now' AND r.topics_digest = f.topics_digest AND r.place = 1
    LEFT JOIN known_broker AS k ON k.snapshot_id = f.snapshot_id AND k.moment = 'now' AND k.broker_id = f.broker_id
    WHERE k.broker_id IS NULL
    GROUP BY f.snapshot_id),
running AS (
    -- Spark 4.2 cannot plan a union of both: it looks for constraints of the relation that was kept (NoSuchElementException)
    SELECT l.snapshot_id, l.min_isr, l.capped,
           CASE WHEN u.brokers IS NULL THEN l.brokers ELSE flatten(array(l.brokers, u.brokers)) END AS brokers
    FROM listed AS l
    LEFT JOIN unlisted AS u ON u.snapshot_id = l.snapshot_id),
going AS (
    SELECT snapshot_id, loss, broker_id, margin FROM lost_broker
    UNION ALL
    SELECT u.snapshot_id, concat('broker:', u.broker_id) AS loss, u.broker_id, m.margin
    FROM (SELECT snapshot_id, explode(brokers) AS broker_id FROM unlisted) AS u
    JOIN (SELECT snapshot_id, max(margin) AS margin FROM lost_broker GROUP BY snapshot_id) AS m ON m.snapshot_id = u.snapshot_id
    LEFT JOIN lost_broker AS b ON b.snapshot_id = u.snapshot_id AND b.loss = concat('broker:', u.broker_id)
    WHERE b.loss IS NULL),
lost AS (
    SELECT snapshot_id, loss, margin, collect_set(broker_id) AS brokers FROM going GROUP BY snapshot_id, loss, margin),
settings AS (
    SELECT s.snapshot_id, c.topic, max(CASE WHEN c.key = 'min.insync.replicas' THEN try_cast(c.value AS BIGINT) END) AS min_isr,
           max(CASE WHEN c.key = 'unclean.leader.election.enable' THEN lower(c.value) = 'true' END) AS unclean
    FROM chosen_sample AS s
    JOIN topic_config AS c
        ON c.snapshot_id = s.source_id AND c.key IN ('min.insync.replicas', 'unclean.leader.election.enable')
    WHERE s.moment = 'now'
    GROUP BY s.snapshot_id, c.topic),
state AS (
    SELECT n.snapshot_id, n.topic, n.partition, n.replicas, n.leader, c.min_isr, c.unclean, r.brokers AS running,
           greatest(2, coalesce(c.min_isr, r.min_isr, 0)) AS enough,
           n.topic IN ('__consumer_offsets', '__transaction_state') AS coordinates,
           CASE WHEN size(n.isr) > 0 THEN filter(n.replicas, x -> array_contains(n.isr, x) AND array_contains(r.brokers, x))
                ELSE filter(n.replicas, x -> false) END AS in_sync,
           CASE WHEN k.brokers IS NOT NULL
                THEN filter(n.replicas, x -> array_contains(k.brokers, x) AND array_contains(r.brokers, x)) END AS eligible
    FROM sampled_partition AS n
    JOIN running AS r ON r.snapshot_id = n.snapshot_id
    LEFT JOIN settings AS c ON c.snapshot_id = n.snapshot_id AND c.topic = n.topic
    LEFT JOIN known_eligible AS k ON k.snapshot_id = n.snapshot_id AND k.topic = n.topic AND k.partition = n.partition
    WHERE n.now AND NOT n.deleting),
hit AS (
    SELECT p.*, l.loss, l.margin, l.brokers AS gone
    FROM (SELECT *, explode(in_sync) AS broker_id FROM state) AS p
    JOIN going AS b ON b.snapshot_id = p.snapshot_id AND b.broker_id = p.broker_id
    JOIN lost AS l ON l.snapshot_id = b.snapshot_id AND l.loss = b.loss
    LEFT JOIN lost_replica AS d
        ON d.snapshot_id = p.snapshot_id AND d.loss = l.loss AND d.topic = p.topic AND d.partition = p.partition
    WHERE d.loss IS NULL AND (p.coordinates OR size(p.in_sync) - 1 < p.enough + l.margin OR size(l.brokers) > 1)
        AND (size(l.brokers) = 1 OR p.broker_id = get(filter(p.in_sync, x -> array_contains(l.brokers, x)), 0))
    UNION ALL
    SELECT p.*, CAST(NULL AS BIGINT) AS broker_id, d.loss, d.margin,
           CASE WHEN l.brokers IS NULL THEN d.brokers ELSE flatten(array(l.brokers, d.brokers)) END AS gone
    FROM lost_replica AS d
    JOIN state AS p ON p.snapshot_id = d.snapshot_id AND p.topic = d.topic AND p.partition = d.partition
    LEFT JOIN lost AS l ON l.snapshot_id = d.snapshot_id AND l.loss = d.loss
    WHERE arrays_overlap(p.in_sync, d.brokers) OR arrays_overlap(p.in_sync, l.brokers)),
after AS (
    SELECT snapshot_id, topic, partition, replicas, leader, min_isr, unclean, loss, margin, size(in_sync) AS before,
           coordinates AND array_contains(gone, leader) AS led, filter(in_sync, x -> NOT array_contains(gone, x)) AS rest,
           filter(eligible, x -> NOT array_contains(gone, x)) AS eligible,
           size(filter(replicas, x -> array_contains(running, x) AND NOT array_contains(gone, x))) AS others
    FROM hit
    UNION ALL
    SELECT snapshot_id, topic, partition, replicas, leader, min_isr, unclean, '', 0, size(in_sync), false, in_sync,
           eligible, size(filter(replicas, x -> array_contains(running, x)))
    FROM state
    WHERE size(in_sync) < enough OR leader = -1),
placed AS (
    SELECT *, CASE WHEN loss = '' THEN CASE WHEN leader >= 0 THEN leader END
                   WHEN array_contains(rest, leader) THEN leader ELSE coalesce(get(rest, 0), get(eligible, 0)) END AS next
    FROM after),
ruled AS (
    SELECT p.snapshot_id, p.topic, p.partition, p.leader, p.loss, p.margin, p.before, p.led, p.next, size(p.rest) AS copies,
           p.others > size(p.rest) AS beside,
           coalesce(p.min_isr, CASE WHEN b.broker_id IS NULL AND p.next >= 0 THEN r.min_isr ELSE b.min_isr END) AS min_isr,
           CASE WHEN coalesce(b.capped, r.capped) THEN size(p.replicas) END AS most,
           p.eligible IS NULL AND coalesce(e.eligible, false) AS unasked,
           coalesce(size(p.eligible), 0) > 0 AS eligible,
           CASE WHEN e.unclean_used THEN coalesce(p.unclean, e.unclean) ELSE false END AS unclean
    FROM placed AS p
    JOIN running AS r ON r.snapshot_id = p.snapshot_id
    LEFT JOIN known_broker AS b
        ON b.snapshot_id = p.snapshot_id AND b.moment = 'now' AND b.broker_id = coalesce(p.next, p.leader)
    LEFT JOIN election_rule AS e ON e.snapshot_id = p.snapshot_id),
needing AS (
    SELECT *, CASE WHEN most < min_isr THEN most ELSE min_isr END AS needed,
           CASE WHEN copies > 0 THEN copies WHEN eligible OR (beside AND unclean) THEN 1 ELSE 0 END AS remaining
    FROM ruled),
sorted AS (
    SELECT snapshot_id, loss, topic, partition, array_compact(array(
               CASE WHEN remaining = 0 OR (loss = '' AND leader = -1) THEN 'offline' END,
               CASE WHEN copies = 0 AND remaining = 1 AND NOT eligible AND loss <> '' THEN 'unclean' END,
               CASE WHEN remaining > 0 AND remaining < needed AND (loss <> '' OR leader >= 0) THEN 'not_writable' END,
               CASE WHEN remaining = 1 AND loss <> '' THEN 'at_risk' END,
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
