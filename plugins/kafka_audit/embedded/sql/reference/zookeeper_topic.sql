-- Generated from differences/reference/zookeeper_topic.sql by `make docs`.
SELECT
  s.snapshot_id,
  s.moment,
  t.topic,
  t.topic_id,
  t.czxid AS created,
  t.mzxid AS version,
  t.deleting,
  FALSE AS disputed,
  t.content_digest AS topic_digest
FROM chosen_sample AS s
JOIN registered_topic AS t
  ON t.snapshot_id = s.source_id AND s.sample BETWEEN t.sample AND t.last_sample
WHERE
  NOT s.kraft
