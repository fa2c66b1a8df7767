-- Generated from differences/epoch_change.sql by `make docs`.
WITH changed AS (
  SELECT
    p.snapshot_id,
    p.topic,
    p.partition,
    p.replicas,
    p.previous_epoch,
    p.leader_epoch,
    CASE WHEN p.leader_epoch < p.previous_epoch THEN 'fell' ELSE 'rose' END AS kind,
    ABS(p.leader_epoch - p.previous_epoch) AS amount
  FROM same_partition AS p
  JOIN chosen_sample AS s
    ON s.snapshot_id = p.snapshot_id AND s.moment = 'now'
  WHERE
    (
      p.leader_epoch < p.previous_epoch
      AND COALESCE(p.before_epoch, p.leader_epoch) < p.previous_epoch
    )
    OR (
      p.leader_epoch - p.previous_epoch >= 20
      AND (
        p.leader_epoch - p.previous_epoch
      ) * 10 > GREATEST(COALESCE(s.minutes, 1), 1)
    )
), ranked AS (
  SELECT
    c.*,
    ROW_NUMBER() OVER (
      PARTITION BY c.snapshot_id, c.kind
      ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END NULLS FIRST, c.topic NULLS FIRST, c.partition NULLS FIRST
    ) AS place
  FROM changed AS c
  LEFT JOIN lone_topic AS o
    ON o.snapshot_id = c.snapshot_id AND o.topic = c.topic
), counted AS (
  SELECT
    snapshot_id,
    kind,
    COUNT(*) AS partitions,
    MAX(amount) AS most,
    LIST_SORT(
      ARRAY_AGG(
        CASE
          WHEN place <= 10
          THEN {'place': place, 'item': topic || '-' || TRY_CAST(partition AS TEXT), 'previous_epoch': previous_epoch, 'leader_epoch': leader_epoch}
        END
      ) FILTER(WHERE CASE
        WHEN place <= 10
        THEN {'place': place, 'item': topic || '-' || TRY_CAST(partition AS TEXT), 'previous_epoch': previous_epoch, 'leader_epoch': leader_epoch}
      END IS NOT NULL),
      'ASC',
      'NULLS FIRST'
    ) AS items
  FROM ranked
  GROUP BY
    snapshot_id,
    kind
), held AS (
  SELECT
    snapshot_id,
    broker_id,
    COUNT(*) AS share
  FROM (
    SELECT
      snapshot_id,
      UNNEST(replicas) AS broker_id
    FROM changed
    WHERE
      kind = 'rose'
  )
  GROUP BY
    snapshot_id,
    broker_id
), most_held AS (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY snapshot_id ORDER BY share DESC, broker_id DESC) AS place
  FROM held
)
SELECT
  c.snapshot_id,
  c.kind,
  c.partitions,
  c.most,
  LIST_TRANSFORM(c.items, LAMBDA x : x.item) AS first,
  LIST_TRANSFORM(c.items, LAMBDA x : x.previous_epoch) AS before,
  LIST_TRANSFORM(c.items, LAMBDA x : x.leader_epoch) AS after,
  h.broker_id,
  h.share
FROM counted AS c
LEFT JOIN most_held AS h
  ON h.snapshot_id = c.snapshot_id AND h.place = 1 AND c.kind = 'rose'
