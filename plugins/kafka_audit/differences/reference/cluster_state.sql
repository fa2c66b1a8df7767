-- What holds for all partitions of a cluster. `several`: a loss takes more than one broker; `unreached`: brokers that clients or others
-- do not reach.
WITH losses AS (
    SELECT snapshot_id, max(margin) AS margin, max(size(brokers)) > 1 AS several FROM broker_loss GROUP BY snapshot_id),
unreached AS (
    SELECT snapshot_id, collect_set(broker_id) AS brokers FROM unreached_broker GROUP BY snapshot_id)
SELECT k.snapshot_id, max(coalesce(k.min_isr, 0)) AS min_isr, bool_and(k.capped) AS capped,
       coalesce(max(l.margin), 0) AS margin, coalesce(bool_or(l.several), false) AS several,
       max(u.brokers) AS unreached
FROM known_broker AS k
LEFT JOIN losses AS l ON l.snapshot_id = k.snapshot_id
LEFT JOIN unreached AS u ON u.snapshot_id = k.snapshot_id
WHERE k.moment = 'now'
GROUP BY k.snapshot_id
