-- Which leaders a broker follows, and is in the ISR of some partition that they lead, now. Up to 200 brokers.
WITH few AS (
    SELECT snapshot_id
    FROM known_broker
    WHERE moment = 'now'
    GROUP BY snapshot_id
    HAVING count(*) <= 200)
SELECT p.snapshot_id, p.replica AS broker_id, sort_array(collect_set(p.leader)) AS leaders
FROM replica_placement AS p
JOIN few AS f ON f.snapshot_id = p.snapshot_id
WHERE p.in_sync > 0 AND p.leader >= 0 AND p.replica >= 0 AND p.leader <> p.replica
GROUP BY p.snapshot_id, p.replica
