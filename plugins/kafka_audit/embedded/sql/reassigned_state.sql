-- Generated from differences/reassigned_state.sql by `make docs`.
WITH brokers AS (
  SELECT
    snapshot_id,
    LIST(DISTINCT broker_id) FILTER(WHERE
      NOT broker_id IS NULL) AS known
  FROM known_broker
  WHERE
    moment = 'now'
  GROUP BY
    snapshot_id
)
SELECT
  m.snapshot_id,
  m.topic,
  m.partition,
  m.adding,
  m.removing,
  n.isr,
  NOT q.topic IS NULL
  AND NOT p.topic IS NULL
  AND COALESCE(
    ARRAY_LENGTH(
      CASE
        WHEN p.isr IS NULL OR p.previous_isr IS NULL
        THEN NULL
        ELSE LIST_FILTER(
          LIST_DISTINCT(p.isr),
          LAMBDA e : LENGTH(LIST_FILTER(p.previous_isr, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
        )
      END
    ) = 0,
    TRUE
  ) AS repeated,
  LIST_SORT(
    CASE
      WHEN m.adding IS NULL OR COALESCE(k.known, []) IS NULL
      THEN NULL
      ELSE LIST_FILTER(
        LIST_DISTINCT(m.adding),
        LAMBDA e : LENGTH(LIST_FILTER(COALESCE(k.known, []), LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
      )
    END,
    'ASC',
    'NULLS FIRST'
  ) AS unregistered
FROM reassigned AS m
LEFT JOIN brokers AS k
  ON k.snapshot_id = m.snapshot_id
LEFT JOIN reassigned AS q
  ON q.snapshot_id = m.snapshot_id
  AND q.moment = 'previous'
  AND q.topic = m.topic
  AND q.partition = m.partition
  AND q.adding = m.adding
  AND q.removing = m.removing
LEFT JOIN partition_state AS n
  ON n.snapshot_id = m.snapshot_id
  AND n.moment = 'now'
  AND n.topic = m.topic
  AND n.partition = m.partition
LEFT JOIN same_partition AS p
  ON p.snapshot_id = m.snapshot_id AND p.topic = m.topic AND p.partition = m.partition
WHERE
  m.moment = 'now'
