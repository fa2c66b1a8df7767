-- Generated from differences/reference/faulty_partition.sql by `make docs`.
WITH brokers AS (
  SELECT
    snapshot_id,
    broker_id,
    min_isr,
    capped,
    rack
  FROM known_broker
  WHERE
    moment = 'now'
), racks AS (
  SELECT
    r.snapshot_id,
    r.rack,
    ARRAY_AGG(r.broker_id) FILTER(WHERE r.broker_id IS NOT NULL) AS beside
  FROM brokers AS r
  JOIN (
    SELECT
      snapshot_id
    FROM brokers
    GROUP BY
      snapshot_id
    HAVING
      MIN(rack) < MAX(rack)
  ) AS s
    ON s.snapshot_id = r.snapshot_id
  GROUP BY
    r.snapshot_id,
    r.rack
), settings AS (
  SELECT
    s.snapshot_id,
    c.topic,
    MAX(CASE WHEN c.key = 'min.insync.replicas' THEN TRY_CAST(c.value AS BIGINT) END) AS min_isr,
    MAX(CASE WHEN c.key <> 'min.insync.replicas' THEN TRY_CAST(c.value AS BIGINT) END) AS observers
  FROM chosen_sample AS s
  JOIN topic_config AS c
    ON c.snapshot_id = s.source_id
    AND c.key IN ('min.insync.replicas', 'confluent.placement.constraints')
  WHERE
    s.moment = 'now'
  GROUP BY
    s.snapshot_id,
    c.topic
), state AS (
  SELECT
    n.snapshot_id,
    n.topic,
    n.partition,
    n.replicas,
    n.leader,
    n.isr,
    n.version,
    n.before,
    CASE
      WHEN n.replicas IS NULL OR COALESCE(m.adding, []) IS NULL
      THEN NULL
      ELSE LIST_FILTER(
        LIST_DISTINCT(n.replicas),
        LAMBDA e : LENGTH(LIST_FILTER(COALESCE(m.adding, []), LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
      )
    END AS assigned,
    COALESCE(c.min_isr, b.min_isr) AS needed,
    COALESCE(c.observers, 0) AS observers,
    COALESCE(b.capped, FALSE) AS capped,
    COALESCE(ARRAY_LENGTH(m.adding) + ARRAY_LENGTH(m.removing), 0) > 0 AS moving,
    CASE
      WHEN ARRAY_LENGTH(n.replicas) > 1
      AND ARRAY_LENGTH(
        CASE
          WHEN n.replicas IS NULL OR r.beside IS NULL
          THEN NULL
          ELSE LIST_FILTER(
            LIST_DISTINCT(n.replicas),
            LAMBDA e : LENGTH(LIST_FILTER(r.beside, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
          )
        END
      ) = 0
      THEN r.rack
    END AS rack
  FROM sampled_partition AS n
  LEFT JOIN brokers AS b
    ON b.snapshot_id = n.snapshot_id
    AND b.broker_id = CASE WHEN n.leader >= 0 THEN n.leader ELSE GET(n.replicas, 0) END
  LEFT JOIN racks AS r
    ON r.snapshot_id = b.snapshot_id AND r.rack = b.rack
  LEFT JOIN settings AS c
    ON c.snapshot_id = n.snapshot_id AND c.topic = n.topic
  LEFT JOIN reassigned AS m
    ON m.snapshot_id = n.snapshot_id
    AND m.moment = 'now'
    AND m.topic = n.topic
    AND m.partition = n.partition
  WHERE
    n.now AND NOT n.deleting
), sized AS (
  SELECT
    *,
    CASE
      WHEN ARRAY_LENGTH(assigned) = 0
      THEN ARRAY_LENGTH(replicas)
      ELSE ARRAY_LENGTH(assigned)
    END AS factor,
    CASE
      WHEN ARRAY_LENGTH(
        CASE
          WHEN assigned IS NULL OR isr IS NULL
          THEN NULL
          ELSE LIST_FILTER(
            LIST_DISTINCT(assigned),
            LAMBDA e : LENGTH(LIST_FILTER(isr, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
          )
        END
      ) > observers
      THEN LIST_SORT(
        COALESCE(
          CASE
            WHEN assigned IS NULL OR isr IS NULL
            THEN NULL
            ELSE LIST_FILTER(
              LIST_DISTINCT(assigned),
              LAMBDA e : LENGTH(LIST_FILTER(isr, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
            )
          END,
          []
        ),
        'ASC',
        'NULLS FIRST'
      )
      ELSE LIST_FILTER(assigned, LAMBDA x : FALSE)
    END AS missing,
    CASE
      WHEN capped AND needed > ARRAY_LENGTH(replicas)
      THEN ARRAY_LENGTH(replicas)
      ELSE needed
    END AS min_isr
  FROM state
  WHERE
    leader = -1
    OR ARRAY_LENGTH(isr) < ARRAY_LENGTH(replicas)
    OR ARRAY_LENGTH(replicas) <= COALESCE(needed, 1)
    OR NOT rack IS NULL
), sorted AS (
  SELECT
    *,
    LIST_FILTER(
      [
        CASE WHEN leader = -1 THEN 'leaderless' END,
        CASE WHEN leader >= 0 AND ARRAY_LENGTH(isr) < min_isr THEN 'under_min_isr' END,
        CASE
          WHEN leader >= 0 AND ARRAY_LENGTH(isr) = min_isr AND ARRAY_LENGTH(missing) > 0
          THEN 'at_min_isr'
        END,
        CASE WHEN leader >= 0 AND ARRAY_LENGTH(missing) > 0 THEN 'under_replicated' END,
        CASE WHEN factor > 1 AND factor <= min_isr THEN 'too_few_replicas' END,
        CASE WHEN NOT rack IS NULL THEN 'one_rack' END,
        CASE
          WHEN ARRAY_LENGTH(replicas) = 1
          AND NOT topic IN (
            '__consumer_offsets',
            '__transaction_state',
            '__share_group_state',
            '__remote_log_metadata'
          )
          THEN 'single_replica'
        END
      ],
      LAMBDA _u : NOT _u IS NULL
    ) AS kinds
  FROM sized
)
SELECT
  snapshot_id,
  topic,
  partition,
  replicas,
  leader,
  isr,
  version,
  before,
  factor,
  missing,
  min_isr,
  rack,
  moving,
  kinds
FROM sorted
WHERE
  ARRAY_LENGTH(kinds) > 0
