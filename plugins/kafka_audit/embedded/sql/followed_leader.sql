-- Generated from differences/followed_leader.sql by `make docs`.
SELECT
  snapshot_id,
  replica AS broker_id,
  LIST_SORT(LIST(DISTINCT leader) FILTER(WHERE
    NOT leader IS NULL), 'ASC', 'NULLS FIRST') AS leaders
FROM replica_placement
WHERE
  in_sync > 0 AND leader >= 0 AND leader <> replica
GROUP BY
  snapshot_id,
  replica
