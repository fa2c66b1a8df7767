-- Generated from differences/followed_leader.sql by `make docs`.
WITH few AS (
  SELECT
    k.snapshot_id
  FROM known_broker AS k
  JOIN chosen_sample AS s
    ON s.snapshot_id = k.snapshot_id AND s.moment = 'now' AND NOT s.kraft
  WHERE
    k.moment = 'now'
  GROUP BY
    k.snapshot_id
  HAVING
    COUNT(*) <= 200
)
SELECT
  p.snapshot_id,
  p.replica AS broker_id,
  LIST_SORT(LIST(DISTINCT p.leader) FILTER(WHERE
    NOT p.leader IS NULL), 'ASC', 'NULLS FIRST') AS leaders
FROM replica_placement AS p
JOIN few AS f
  ON f.snapshot_id = p.snapshot_id
WHERE
  p.in_sync > 0 AND p.leader >= 0 AND p.replica >= 0 AND p.leader <> p.replica
GROUP BY
  p.snapshot_id,
  p.replica
