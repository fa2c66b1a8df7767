-- Generated from differences/state_fault.sql by `make docs`.
WITH suspect AS (
  SELECT DISTINCT
    p.snapshot_id
  FROM replica_placement AS p
  JOIN chosen_sample AS s
    ON s.snapshot_id = p.snapshot_id AND s.moment = 'now'
  WHERE
    p.controller_epoch > s.controller_epoch OR p.recovering > 0
), fault AS (
  SELECT
    n.snapshot_id,
    n.topic,
    n.partition,
    n.controller_epoch,
    CASE WHEN n.controller_epoch > s.controller_epoch THEN 1 ELSE 0 END AS ahead,
    CASE WHEN n.recovery_state = 1 THEN 1 ELSE 0 END AS recovering,
    COALESCE(n.version <= s.first_zxid, FALSE) AS stood_before,
    s.steady AND (
      n.before OR COALESCE(b.version = n.version, FALSE)
    ) AS same,
    n.before OR COALESCE(b.recovery_state = 1, FALSE) AS recovering_before
  FROM suspect AS o
  JOIN sampled_partition AS n
    ON n.snapshot_id = o.snapshot_id
  JOIN chosen_sample AS s
    ON s.snapshot_id = n.snapshot_id AND s.moment = 'now'
  LEFT JOIN sampled_partition AS b
    ON b.snapshot_id = n.snapshot_id
    AND b.before
    AND b.topic = n.topic
    AND b.partition = n.partition
  WHERE
    n.now AND (
      n.controller_epoch > s.controller_epoch OR n.recovery_state = 1
    )
), kinds AS (
  SELECT
    snapshot_id,
    'ahead' AS kind,
    topic,
    partition,
    controller_epoch,
    stood_before OR same AS repeated
  FROM fault
  WHERE
    ahead = 1
  UNION ALL
  SELECT
    snapshot_id,
    'recovering',
    topic,
    partition,
    NULL,
    same AND recovering_before
  FROM fault
  WHERE
    recovering = 1
), ranked AS (
  SELECT
    k.*,
    ROW_NUMBER() OVER (
      PARTITION BY k.snapshot_id, k.kind, k.repeated
      ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END NULLS FIRST, k.topic NULLS FIRST, k.partition NULLS FIRST
    ) AS place
  FROM kinds AS k
  LEFT JOIN lone_topic AS o
    ON o.snapshot_id = k.snapshot_id AND o.topic = k.topic
), counted AS (
  SELECT
    snapshot_id,
    kind,
    COUNT(*) AS partitions,
    COUNT_IF(repeated) AS repeated,
    MAX(controller_epoch) AS controller_epoch,
    COALESCE(
      LIST_SORT(
        ARRAY_AGG(
          CASE
            WHEN repeated AND place <= 10
            THEN {'place': place, 'item': topic || '-' || TRY_CAST(partition AS TEXT), 'controller_epoch': controller_epoch}
          END
        ) FILTER(WHERE CASE
          WHEN repeated AND place <= 10
          THEN {'place': place, 'item': topic || '-' || TRY_CAST(partition AS TEXT), 'controller_epoch': controller_epoch}
        END IS NOT NULL),
        'ASC',
        'NULLS FIRST'
      ),
      []
    ) AS items
  FROM ranked
  GROUP BY
    snapshot_id,
    kind
)
SELECT
  snapshot_id,
  kind,
  partitions,
  repeated,
  LIST_TRANSFORM(items, LAMBDA x : x.item) AS first,
  LIST_TRANSFORM(items, LAMBDA x : x.controller_epoch) AS epochs,
  controller_epoch
FROM counted
