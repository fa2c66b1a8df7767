-- Generated from differences/loss_count.sql by `make docs`.
WITH named AS (
  SELECT
    snapshot_id,
    loss,
    topic,
    partition,
    UNNEST(kinds) AS kind
  FROM lost_partition
), ranked AS (
  SELECT
    n.*,
    ROW_NUMBER() OVER (
      PARTITION BY n.snapshot_id, n.loss, n.kind
      ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END NULLS FIRST, n.topic NULLS FIRST, n.partition NULLS FIRST
    ) AS place
  FROM named AS n
  LEFT JOIN lone_topic AS o
    ON o.snapshot_id = n.snapshot_id AND o.topic = n.topic
), counted AS (
  SELECT
    snapshot_id,
    loss,
    kind,
    COUNT(*) AS partitions,
    COUNT(DISTINCT topic) AS topics,
    LIST_SORT(
      ARRAY_AGG(
        CASE
          WHEN place <= 10
          THEN {'place': place, 'topic': topic, 'partition': partition}
        END
      ) FILTER(WHERE CASE
        WHEN place <= 10
        THEN {'place': place, 'topic': topic, 'partition': partition}
      END IS NOT NULL),
      'ASC',
      'NULLS FIRST'
    ) AS first
  FROM ranked
  GROUP BY
    snapshot_id,
    loss,
    kind
)
SELECT
  snapshot_id,
  loss,
  kind,
  partitions,
  topics,
  LIST_TRANSFORM(first, LAMBDA x : x.topic) AS first_topics,
  LIST_TRANSFORM(first, LAMBDA x : x.partition) AS first_partitions
FROM counted
