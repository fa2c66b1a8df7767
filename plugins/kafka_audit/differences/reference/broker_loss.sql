-- Losses, with all brokers that go. One that Metadata does not list, and runs, is a loss, too, where brokers are.
WITH going AS (
    SELECT snapshot_id, loss, broker_id, margin FROM lost_broker
    UNION ALL
    SELECT u.snapshot_id, 'broker:' || u.broker_id AS loss, u.broker_id, m.margin
    FROM unlisted_broker AS u
    JOIN (SELECT snapshot_id, max(margin) AS margin FROM lost_broker GROUP BY snapshot_id) AS m ON m.snapshot_id = u.snapshot_id
    LEFT JOIN lost_broker AS b ON b.snapshot_id = u.snapshot_id AND b.loss = 'broker:' || u.broker_id
    WHERE b.loss IS NULL)
SELECT snapshot_id, loss, margin, collect_set(broker_id) AS brokers
FROM going
GROUP BY snapshot_id, loss, margin
