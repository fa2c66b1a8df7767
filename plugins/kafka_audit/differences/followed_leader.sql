-- Which leaders a broker follows, and is in the ISR of some partition that they lead, now.
SELECT snapshot_id, replica AS broker_id, sort_array(collect_set(leader)) AS leaders
FROM replica_placement
WHERE in_sync > 0 AND leader >= 0 AND leader <> replica
GROUP BY snapshot_id, replica
