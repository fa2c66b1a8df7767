-- Generated from differences/replica_state.sql by `make docs`.
WITH brokers AS (
  SELECT
    snapshot_id,
    LIST(DISTINCT broker_id) FILTER(WHERE
      NOT broker_id IS NULL) AS known,
    COALESCE(
      LIST(DISTINCT CASE WHEN returned THEN broker_id END) FILTER(WHERE
        NOT CASE WHEN returned THEN broker_id END IS NULL),
      []
    ) AS returned
  FROM known_broker
  WHERE
    moment = 'now'
  GROUP BY
    snapshot_id
), ranked AS (
  SELECT
    f.*,
    NOT o.topic IS NULL AS alone,
    ROW_NUMBER() OVER (
      PARTITION BY f.snapshot_id
      ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END NULLS FIRST, CASE GET(f.kinds, 0)
        WHEN 'leaderless'
        THEN 0
        WHEN 'under_min_isr'
        THEN 1
        WHEN 'at_min_isr'
        THEN 2
        WHEN 'under_replicated'
        THEN 3
        WHEN 'too_few_replicas'
        THEN 4
        WHEN 'one_rack'
        THEN 5
        ELSE 6
      END NULLS FIRST, f.topic NULLS FIRST, f.partition NULLS FIRST
    ) AS place
  FROM faulty_partition AS f
  LEFT JOIN lone_topic AS o
    ON o.snapshot_id = f.snapshot_id AND o.topic = f.topic
)
SELECT
  w.snapshot_id,
  w.topic,
  w.partition,
  w.replicas,
  w.leader,
  COALESCE(w.isr, []) AS isr,
  w.factor,
  w.missing,
  LIST_SORT(
    COALESCE(
      CASE
        WHEN w.missing IS NULL OR k.known IS NULL
        THEN NULL
        ELSE LIST_FILTER(
          LIST_DISTINCT(w.missing),
          LAMBDA e : LENGTH(LIST_FILTER(k.known, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
        )
      END,
      []
    ),
    'ASC',
    'NULLS FIRST'
  ) AS unregistered,
  CASE
    WHEN NOT p.topic IS NULL
    THEN LIST_SORT(
      CASE
        WHEN ARRAY_INTERSECT(
          w.missing,
          CASE
            WHEN p.replicas IS NULL OR p.isr IS NULL
            THEN NULL
            ELSE LIST_FILTER(
              LIST_DISTINCT(p.replicas),
              LAMBDA e : LENGTH(LIST_FILTER(p.isr, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
            )
          END
        ) IS NULL
        OR k.returned IS NULL
        THEN NULL
        ELSE LIST_FILTER(
          LIST_DISTINCT(
            ARRAY_INTERSECT(
              w.missing,
              CASE
                WHEN p.replicas IS NULL OR p.isr IS NULL
                THEN NULL
                ELSE LIST_FILTER(
                  LIST_DISTINCT(p.replicas),
                  LAMBDA e : LENGTH(LIST_FILTER(p.isr, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
                )
              END
            )
          ),
          LAMBDA e : LENGTH(LIST_FILTER(k.returned, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
        )
      END,
      'ASC',
      'NULLS FIRST'
    )
    WHEN t.alike
    THEN LIST_SORT(
      CASE
        WHEN w.missing IS NULL OR k.returned IS NULL
        THEN NULL
        ELSE LIST_FILTER(
          LIST_DISTINCT(w.missing),
          LAMBDA e : LENGTH(LIST_FILTER(k.returned, LAMBDA x : x IS NOT DISTINCT FROM e)) = 0
        )
      END,
      'ASC',
      'NULLS FIRST'
    )
  END AS lasting,
  w.min_isr,
  w.rack,
  w.moving,
  s.steady
  AND (
    w.before
    OR (
      NOT b.topic IS NULL
      AND b.leader IS NOT DISTINCT FROM w.leader
      AND b.isr IS NOT DISTINCT FROM w.isr
      AND b.version IS NOT DISTINCT FROM w.version
    )
  ) AS repeated,
  w.kinds,
  w.alone
FROM ranked AS w
JOIN chosen_sample AS s
  ON s.snapshot_id = w.snapshot_id AND s.moment = 'now'
LEFT JOIN brokers AS k
  ON k.snapshot_id = w.snapshot_id
LEFT JOIN partition_state AS b
  ON b.snapshot_id = w.snapshot_id
  AND b.moment = 'before'
  AND b.topic = w.topic
  AND b.partition = w.partition
LEFT JOIN partition_state AS p
  ON p.snapshot_id = w.snapshot_id
  AND p.moment = 'previous'
  AND p.topic = w.topic
  AND p.partition = w.partition
LEFT JOIN same_topic AS t
  ON t.snapshot_id = w.snapshot_id AND t.topic = w.topic
WHERE
  w.place <= 10000
