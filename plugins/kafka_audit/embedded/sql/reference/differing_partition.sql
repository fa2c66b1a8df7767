-- Generated from differences/reference/differing_partition.sql by `make docs`.
WITH content AS (
  SELECT DISTINCT
    snapshot_id,
    moment,
    source_id,
    topic,
    topic_digest,
    version,
    among_brokers
  FROM differing_entry
  WHERE
    error <> 29
), compared AS (
  SELECT
    c.snapshot_id,
    c.moment,
    c.source_id,
    c.topic,
    c.topic_digest,
    c.version AS topic_version,
    r.version,
    r.partition,
    r.leader,
    r.leader_epoch,
    LIST_SORT(r.replicas, 'ASC', 'NULLS FIRST') AS replicas,
    LIST_SORT(r.isr, 'ASC', 'NULLS FIRST') AS isr,
    v.error,
    v.leader AS view_leader,
    v.leader_epoch AS view_leader_epoch,
    LIST_SORT(v.replicas, 'ASC', 'NULLS FIRST') AS view_replicas,
    LIST_SORT(v.isr, 'ASC', 'NULLS FIRST') AS view_isr,
    CASE
      WHEN v.partition IS NULL
      THEN 'partition_missing'
      WHEN v.error = 72
      THEN 'listener_missing'
      WHEN v.error = 5 AND NOT b.broker_id IS NULL
      THEN 'no_leader'
      WHEN v.error = 5 OR r.leader IS NULL OR v.leader = r.leader
      THEN NULL
      WHEN v.leader_epoch > r.leader_epoch
      OR (
        c.among_brokers AND v.leader_epoch = r.leader_epoch
      )
      THEN 'leader_ahead'
      ELSE 'leader'
    END AS leader_kind,
    r.replicas <> v.replicas
    AND LIST_SORT(r.replicas, 'ASC', 'NULLS FIRST') <> LIST_SORT(v.replicas, 'ASC', 'NULLS FIRST') AS other_replicas,
    v.error = 0
    AND v.leader = r.leader
    AND r.isr <> v.isr
    AND LIST_SORT(r.isr, 'ASC', 'NULLS FIRST') <> LIST_SORT(v.isr, 'ASC', 'NULLS FIRST')
    AND (
      v.leader_epoch IS NULL
      OR r.leader_epoch IS NULL
      OR v.leader_epoch = r.leader_epoch
    ) AS other_isr
  FROM content AS c
  JOIN partition_state AS r
    ON r.snapshot_id = c.snapshot_id AND r.moment = c.moment AND r.topic = c.topic
  LEFT JOIN known_broker AS b
    ON b.snapshot_id = r.snapshot_id AND b.moment = r.moment AND b.broker_id = r.leader
  LEFT JOIN view_partition AS v
    ON v.snapshot_id = c.source_id
    AND v.topic_digest = c.topic_digest
    AND v.topic = r.topic
    AND v.partition = r.partition
), differing AS (
  SELECT
    *
  FROM compared
  WHERE
    NOT leader_kind IS NULL OR other_replicas OR other_isr
)
SELECT
  d.snapshot_id,
  d.moment,
  d.source_id,
  d.topic,
  d.topic_digest,
  d.topic_version,
  d.version,
  d.partition,
  d.leader AS subject,
  CASE m.matter WHEN 'leader' THEN d.leader_kind ELSE m.matter END AS kind,
  CASE WHEN m.matter = 'leader' THEN d.leader END AS leader,
  CASE WHEN m.matter = 'leader' THEN d.leader_epoch END AS leader_epoch,
  CASE WHEN m.matter = 'replicas' THEN d.replicas END AS replicas,
  CASE WHEN m.matter = 'isr' THEN d.isr END AS isr,
  CASE WHEN m.matter = 'leader' AND d.error IN (5, 72) THEN d.error END AS view_error,
  CASE WHEN m.matter = 'leader' AND NOT d.error IN (5, 72) THEN d.view_leader END AS view_leader,
  CASE
    WHEN m.matter = 'leader' AND NOT d.error IN (5, 72)
    THEN d.view_leader_epoch
  END AS view_leader_epoch,
  CASE WHEN m.matter = 'replicas' THEN d.view_replicas END AS view_replicas,
  CASE WHEN m.matter = 'isr' THEN d.view_isr END AS view_isr
FROM differing AS d
CROSS JOIN (VALUES
  ('leader'),
  ('replicas'),
  ('isr')) AS m(matter)
WHERE
  CASE m.matter
    WHEN 'leader'
    THEN NOT d.leader_kind IS NULL
    WHEN 'replicas'
    THEN d.other_replicas
    ELSE d.other_isr
  END
