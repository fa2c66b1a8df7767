-- How many partitions there are of each kind of `replica_state`, listed there or not.
SELECT snapshot_id, kind, count(*) AS partitions
FROM (SELECT snapshot_id, explode(kinds) AS kind FROM faulty_partition)
GROUP BY snapshot_id, kind
