-- Everything that a view of the newest sample says differently from the reference: a row for each observer, listener, topic or
-- partition, and kind of `ViewDifference`. `repeated`: the sample before shows the very same, resting on the same versions.
WITH hidden AS (
    -- Metadata passes over topics that the auditor may not describe: what no view lists, empty views left out. A sample that asks
    -- some brokers again has their views alone, so that views of both samples count.
    SELECT t.snapshot_id, t.topic
    FROM lacking_topic AS t
    JOIN (SELECT DISTINCT snapshot_id, topics_digest FROM observer_view WHERE filled) AS f
        ON f.snapshot_id = t.snapshot_id AND f.topics_digest = t.topics_digest
    JOIN (SELECT snapshot_id, count(DISTINCT topics_digest) AS lists FROM observer_view WHERE filled GROUP BY snapshot_id) AS n
        ON n.snapshot_id = t.snapshot_id
    GROUP BY t.snapshot_id, t.topic, n.lists
    HAVING count(DISTINCT t.topics_digest) = n.lists),
said AS (
    SELECT o.snapshot_id, o.moment, o.name, o.listener, d.topic, d.partition, 1 AS partitions, d.topic_version, d.version,
           -- Below Metadata v6 a leader without the listener is reported as error 5 too.
           CASE WHEN d.kind = 'no_leader' AND o.old_metadata AND o.registered_listener
                    AND NOT coalesce(array_contains(b.listeners, o.listener), false)
                THEN 'listener_missing' ELSE d.kind END AS kind,
           CASE WHEN d.kind IN ('no_leader', 'listener_missing') THEN d.subject END AS broker_id,
           d.leader, d.leader_epoch, d.replicas, d.isr, d.view_error, d.view_leader, d.view_leader_epoch, d.view_replicas,
           d.view_isr
    FROM differing_partition AS d
    JOIN differing_entry AS e
        ON e.snapshot_id = d.snapshot_id AND e.moment = d.moment AND e.topic = d.topic AND e.topic_digest = d.topic_digest
        AND e.error <> 29
    JOIN observer_view AS o
        ON o.snapshot_id = d.snapshot_id AND o.moment = d.moment AND o.topics_digest = e.topics_digest
    LEFT JOIN known_broker AS b ON b.snapshot_id = o.snapshot_id AND b.moment = o.moment AND b.broker_id = d.subject
    UNION ALL
    SELECT o.snapshot_id, o.moment, o.name, o.listener, t.topic, NULL, t.partitions, t.version, NULL,
           CASE WHEN t.kind = 'topic_refused' OR (h.topic IS NOT NULL AND o.filled AND o.hides) THEN 'topic_hidden'
                ELSE t.kind END,
           NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM lacking_topic AS t
    JOIN observer_view AS o ON o.snapshot_id = t.snapshot_id AND o.moment = t.moment AND o.topics_digest = t.topics_digest
    LEFT JOIN hidden AS h ON h.snapshot_id = t.snapshot_id AND h.topic = t.topic),
both_samples AS (
    SELECT snapshot_id, name, listener, topic, partition, kind, broker_id, leader, leader_epoch, replicas, isr, view_error,
           view_leader, view_leader_epoch, view_replicas, view_isr, max(partitions) AS partitions,
           count_if(moment = 'before') > 0 AS same_before
    FROM said
    GROUP BY snapshot_id, name, listener, topic, partition, kind, broker_id, leader, leader_epoch, replicas, isr, view_error,
             view_leader, view_leader_epoch, view_replicas, view_isr, topic_version, version
    HAVING count_if(moment = 'now') > 0)
SELECT d.snapshot_id, d.name, d.listener, d.topic, d.partition, d.kind, d.broker_id, d.leader, d.leader_epoch, d.replicas, d.isr,
       d.view_error, d.view_leader, d.view_leader_epoch, d.view_replicas, d.view_isr, d.partitions,
       d.same_before AND s.steady AS repeated
FROM both_samples AS d
JOIN chosen_sample AS s ON s.snapshot_id = d.snapshot_id AND s.moment = 'now'
