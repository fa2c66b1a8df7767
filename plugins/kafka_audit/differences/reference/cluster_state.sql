-- What holds for all partitions of a cluster. `down`: brokers of replicas that do not run; they are few, and each partition would be
-- compared with all that run. `several`: a loss takes more than one broker.
WITH down AS (
    SELECT p.snapshot_id, collect_set(p.replica) AS brokers
    FROM replica_placement AS p
    LEFT JOIN known_broker AS k ON k.snapshot_id = p.snapshot_id AND k.moment = 'now' AND k.broker_id = p.replica
    LEFT JOIN unlisted_broker AS u ON u.snapshot_id = p.snapshot_id AND u.broker_id = p.replica
    WHERE k.broker_id IS NULL AND u.broker_id IS NULL
    GROUP BY p.snapshot_id),
losses AS (
    SELECT snapshot_id, max(margin) AS margin, max(size(brokers)) > 1 AS several FROM broker_loss GROUP BY snapshot_id)
SELECT k.snapshot_id, max(coalesce(k.min_isr, 0)) AS min_isr, bool_and(k.capped) AS capped,
       coalesce(first(d.brokers), array()) AS down, coalesce(max(l.margin), 0) AS margin,
       coalesce(bool_or(l.several), false) AS several
FROM known_broker AS k
LEFT JOIN down AS d ON d.snapshot_id = k.snapshot_id
LEFT JOIN losses AS l ON l.snapshot_id = k.snapshot_id
WHERE k.moment = 'now'
GROUP BY k.snapshot_id
