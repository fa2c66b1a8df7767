-- Generated from differences/leader_move.sql by `make docs`.
WITH led AS (
  SELECT
    snapshot_id,
    previous_leader AS broker_id,
    topic,
    partition,
    leader,
    leader IS DISTINCT FROM previous_leader AS moved
  FROM same_partition
  WHERE
    previous_leader >= 0
), counted AS (
  SELECT
    snapshot_id,
    broker_id,
    COUNT(*) AS led,
    COUNT_IF(moved) AS moved,
    LIST(DISTINCT CASE WHEN moved THEN COALESCE(leader, -1) END) FILTER(WHERE
      NOT CASE WHEN moved THEN COALESCE(leader, -1) END IS NULL) AS leaders
  FROM led
  GROUP BY
    snapshot_id,
    broker_id
), kept AS (
  SELECT
    snapshot_id,
    leader AS broker_id,
    SUM(partitions) AS led
  FROM replica_placement
  WHERE
    alike AND first AND leader >= 0 AND partitions > 0
  GROUP BY
    snapshot_id,
    leader
), ranked AS (
  SELECT
    l.snapshot_id,
    l.broker_id,
    l.topic || '-' || TRY_CAST(l.partition AS TEXT) AS item,
    ROW_NUMBER() OVER (
      PARTITION BY l.snapshot_id, l.broker_id
      ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END NULLS FIRST, l.topic NULLS FIRST, l.partition NULLS FIRST
    ) AS place
  FROM led AS l
  LEFT JOIN lone_topic AS o
    ON o.snapshot_id = l.snapshot_id AND o.topic = l.topic
  WHERE
    l.moved
), listed AS (
  SELECT
    snapshot_id,
    broker_id,
    LIST_SORT(
      ARRAY_AGG({'place': place, 'item': item}) FILTER(WHERE {'place': place, 'item': item} IS NOT NULL),
      'ASC',
      'NULLS FIRST'
    ) AS items
  FROM ranked
  WHERE
    place <= 10
  GROUP BY
    snapshot_id,
    broker_id
)
SELECT
  COALESCE(c.snapshot_id, k.snapshot_id) AS snapshot_id,
  COALESCE(c.broker_id, k.broker_id) AS broker_id,
  COALESCE(c.led, 0) + COALESCE(k.led, 0) AS led,
  COALESCE(c.moved, 0) AS moved,
  COALESCE(LIST_TRANSFORM(l.items, LAMBDA x : x.item), []) AS first,
  COALESCE(LIST_SORT(c.leaders, 'ASC', 'NULLS FIRST'), []) AS leaders
FROM counted AS c
FULL OUTER JOIN kept AS k
  ON k.snapshot_id = c.snapshot_id AND k.broker_id = c.broker_id
LEFT JOIN listed AS l
  ON l.snapshot_id = c.snapshot_id AND l.broker_id = c.broker_id
