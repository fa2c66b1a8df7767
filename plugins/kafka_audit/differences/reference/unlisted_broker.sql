-- Brokers of KRaft that Metadata does not list, and that are in the ISR of a partition with a leader: they run, and lack the listener
-- of the question.
SELECT DISTINCT snapshot_id, broker_id
FROM (SELECT n.snapshot_id, explode(filter(n.isr, x -> NOT array_contains(b.brokers, x))) AS broker_id
      FROM sampled_partition AS n
      JOIN chosen_sample AS s ON s.snapshot_id = n.snapshot_id AND s.moment = 'now' AND s.kraft
      JOIN (SELECT snapshot_id, collect_set(broker_id) AS brokers FROM known_broker WHERE moment = 'now' GROUP BY snapshot_id) AS b
          ON b.snapshot_id = n.snapshot_id
      WHERE n.now AND coalesce(n.leader, 0) >= 0)
