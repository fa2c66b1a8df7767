-- Generated from differences/reference/lost_partition.sql by `make docs`.
WITH settings AS (
  SELECT
    s.snapshot_id,
    c.topic,
    MAX(CASE WHEN c.key = 'min.insync.replicas' THEN TRY_CAST(c.value AS BIGINT) END) AS min_isr,
    MAX(
      CASE WHEN c.key = 'unclean.leader.election.enable' THEN LOWER(c.value) = 'true' END
    ) AS unclean
  FROM chosen_sample AS s
  JOIN topic_config AS c
    ON c.snapshot_id = s.source_id
    AND c.key IN ('min.insync.replicas', 'unclean.leader.election.enable')
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
    c.min_isr,
    c.unclean,
    a.down,
    r.several,
    r.margin AS most,
    GREATEST(2, COALESCE(c.min_isr, r.min_isr, 0)) AS enough,
    n.topic IN ('__consumer_offsets', '__transaction_state') AS coordinates,
    CASE
      WHEN ARRAY_LENGTH(n.isr) > 0
      THEN LIST_FILTER(
        n.replicas,
        LAMBDA x : ARRAY_CONTAINS(n.isr, x) AND NOT COALESCE(ARRAY_CONTAINS(a.down, x), FALSE)
      )
      ELSE LIST_FILTER(n.replicas, LAMBDA x : FALSE)
    END AS in_sync,
    CASE
      WHEN NOT k.brokers IS NULL
      THEN LIST_FILTER(
        n.replicas,
        LAMBDA x : ARRAY_CONTAINS(k.brokers, x) AND NOT COALESCE(ARRAY_CONTAINS(a.down, x), FALSE)
      )
    END AS eligible
  FROM sampled_partition AS n
  JOIN cluster_state AS r
    ON r.snapshot_id = n.snapshot_id
  LEFT JOIN settings AS c
    ON c.snapshot_id = n.snapshot_id AND c.topic = n.topic
  LEFT JOIN absent_replica AS a
    ON a.snapshot_id = n.snapshot_id AND a.topic = n.topic AND a.partition = n.partition
  LEFT JOIN known_eligible AS k
    ON k.snapshot_id = n.snapshot_id AND k.topic = n.topic AND k.partition = n.partition
  WHERE
    n.now AND NOT n.deleting
), hit AS (
  SELECT
    p.*,
    l.loss,
    l.margin,
    l.brokers AS gone
  FROM (
    SELECT
      *,
      UNNEST(in_sync) AS broker_id
    FROM state
    WHERE
      coordinates OR several OR ARRAY_LENGTH(in_sync) - 1 < enough + most
  ) AS p
  JOIN (
    SELECT
      *,
      UNNEST(brokers) AS broker_id
    FROM broker_loss
  ) AS l
    ON l.snapshot_id = p.snapshot_id AND l.broker_id = p.broker_id
  LEFT JOIN lost_replica AS d
    ON d.snapshot_id = p.snapshot_id
    AND d.loss = l.loss
    AND d.topic = p.topic
    AND d.partition = p.partition
  WHERE
    d.loss IS NULL
    AND (
      p.coordinates
      OR ARRAY_LENGTH(p.in_sync) - 1 < p.enough + l.margin
      OR ARRAY_LENGTH(l.brokers) > 1
    )
    AND (
      ARRAY_LENGTH(l.brokers) = 1
      OR p.broker_id = GET(LIST_FILTER(p.in_sync, LAMBDA x : ARRAY_CONTAINS(l.brokers, x)), 0)
    )
  UNION ALL
  SELECT
    p.*,
    TRY_CAST(NULL AS BIGINT) AS broker_id,
    d.loss,
    d.margin,
    CASE WHEN l.brokers IS NULL THEN d.brokers ELSE FLATTEN([l.brokers, d.brokers]) END AS gone
  FROM lost_replica AS d
  JOIN state AS p
    ON p.snapshot_id = d.snapshot_id AND p.topic = d.topic AND p.partition = d.partition
  LEFT JOIN broker_loss AS l
    ON l.snapshot_id = d.snapshot_id AND l.loss = d.loss
  WHERE
    ARRAYS_OVERLAP(p.in_sync, d.brokers) OR ARRAYS_OVERLAP(p.in_sync, l.brokers)
), after AS (
  SELECT
    snapshot_id,
    topic,
    partition,
    replicas,
    leader,
    min_isr,
    unclean,
    loss,
    margin,
    ARRAY_LENGTH(in_sync) AS before,
    coordinates AND ARRAY_CONTAINS(gone, leader) AS led,
    LIST_FILTER(in_sync, LAMBDA x : NOT ARRAY_CONTAINS(gone, x)) AS rest,
    LIST_FILTER(eligible, LAMBDA x : NOT ARRAY_CONTAINS(gone, x)) AS eligible,
    ARRAY_LENGTH(
      LIST_FILTER(
        replicas,
        LAMBDA x : NOT COALESCE(ARRAY_CONTAINS(down, x), FALSE) AND NOT ARRAY_CONTAINS(gone, x)
      )
    ) AS others
  FROM hit
  UNION ALL
  SELECT
    snapshot_id,
    topic,
    partition,
    replicas,
    leader,
    min_isr,
    unclean,
    '',
    0,
    ARRAY_LENGTH(in_sync),
    FALSE,
    in_sync,
    eligible,
    ARRAY_LENGTH(LIST_FILTER(replicas, LAMBDA x : NOT COALESCE(ARRAY_CONTAINS(down, x), FALSE)))
  FROM state
  WHERE
    ARRAY_LENGTH(in_sync) < enough OR leader = -1
), placed AS (
  SELECT
    *,
    CASE
      WHEN loss = ''
      THEN CASE WHEN leader >= 0 THEN leader END
      WHEN ARRAY_CONTAINS(rest, leader)
      THEN leader
      ELSE COALESCE(GET(rest, 0), GET(eligible, 0))
    END AS next
  FROM after
), ruled AS (
  SELECT
    p.snapshot_id,
    p.topic,
    p.partition,
    p.leader,
    p.loss,
    p.margin,
    p.before,
    p.led,
    p.next,
    ARRAY_LENGTH(p.rest) AS copies,
    p.others > ARRAY_LENGTH(p.rest) AS beside,
    COALESCE(
      p.min_isr,
      CASE WHEN b.broker_id IS NULL AND p.next >= 0 THEN r.min_isr ELSE b.min_isr END
    ) AS min_isr,
    CASE WHEN COALESCE(b.capped, r.capped) THEN ARRAY_LENGTH(p.replicas) END AS most,
    p.eligible IS NULL AND COALESCE(e.eligible, FALSE) AS unasked,
    COALESCE(ARRAY_LENGTH(p.eligible), 0) > 0 AS eligible,
    CASE WHEN e.unclean_used THEN COALESCE(p.unclean, e.unclean) ELSE FALSE END AS unclean
  FROM placed AS p
  JOIN cluster_state AS r
    ON r.snapshot_id = p.snapshot_id
  LEFT JOIN known_broker AS b
    ON b.snapshot_id = p.snapshot_id
    AND b.moment = 'now'
    AND b.broker_id = COALESCE(p.next, p.leader)
  LEFT JOIN election_rule AS e
    ON e.snapshot_id = p.snapshot_id
), needing AS (
  SELECT
    *,
    CASE WHEN most < min_isr THEN most ELSE min_isr END AS needed,
    CASE
      WHEN copies > 0
      THEN copies
      WHEN eligible OR (
        beside AND unclean
      )
      THEN 1
      ELSE 0
    END AS remaining
  FROM ruled
), sorted AS (
  SELECT
    snapshot_id,
    loss,
    topic,
    partition,
    LIST_FILTER(
      [
        CASE WHEN remaining = 0 OR (
          loss = '' AND leader = -1
        ) THEN 'offline' END,
        CASE
          WHEN copies = 0 AND remaining = 1 AND NOT eligible AND loss <> ''
          THEN 'unclean'
        END,
        CASE
          WHEN remaining > 0 AND remaining < needed AND (
            loss <> '' OR leader >= 0
          )
          THEN 'not_writable'
        END,
        CASE WHEN remaining = 1 AND loss <> '' THEN 'at_risk' END,
        CASE
          WHEN remaining > 0
          AND margin > 0
          AND remaining < GREATEST(COALESCE(needed, 1), 1) + margin
          THEN 'below_margin'
        END,
        CASE WHEN remaining > 0 AND led THEN 'moved' END,
        CASE
          WHEN copies = 0 AND loss <> '' AND beside AND NOT eligible AND unclean IS NULL
          THEN 'unclean_unknown'
        END,
        CASE
          WHEN copies = 0
          AND loss <> ''
          AND beside
          AND unasked
          AND before < COALESCE(needed, before + 1)
          THEN 'eligible_unknown'
        END
      ],
      LAMBDA _u : NOT _u IS NULL
    ) AS kinds
  FROM needing
)
SELECT
  snapshot_id,
  loss,
  topic,
  partition,
  kinds
FROM sorted
WHERE
  ARRAY_LENGTH(kinds) > 0
