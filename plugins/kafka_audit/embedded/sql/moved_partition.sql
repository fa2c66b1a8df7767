-- Generated from differences/moved_partition.sql by `make docs`.
WITH moved AS (
  SELECT
    snapshot_id,
    topic,
    partition,
    previous_leader AS before,
    leader AS after,
    ROW_NUMBER() OVER (PARTITION BY snapshot_id ORDER BY topic NULLS FIRST, partition NULLS FIRST) AS place
  FROM same_partition
  WHERE
    leader IS DISTINCT FROM previous_leader
), counted AS (
  SELECT
    *,
    COUNT(*) OVER (PARTITION BY snapshot_id) AS total
  FROM moved
  WHERE
    place <= 201
)
SELECT
  snapshot_id,
  topic,
  partition,
  before,
  after
FROM counted
WHERE
  total <= 200
