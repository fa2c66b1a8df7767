-- How topic ids of all views compare with the reference's, now.
WITH lists AS (
    SELECT DISTINCT snapshot_id, moment, source_id, topics_digest FROM observer_view),
compared AS (
    SELECT l.snapshot_id, t.topic, t.topic_id AS reference_id, v.topic_id AS view_id,
           t.topic_id IS DISTINCT FROM v.topic_id AS differs,
           count_if(l.moment = 'before') > 0 AND t.version IS NOT NULL AS same_before
    FROM lists AS l
    JOIN view_topic AS v
        ON v.snapshot_id = l.source_id AND v.topics_digest = l.topics_digest AND v.topic_id IS NOT NULL
    JOIN topic_state AS t
        ON t.snapshot_id = l.snapshot_id AND t.moment = l.moment AND t.topic = v.topic AND NOT t.deleting
    GROUP BY l.snapshot_id, t.topic, t.version, t.topic_id, v.topic_id
    HAVING count_if(l.moment = 'now') > 0),
repeating AS (
    SELECT c.*, s.steady AND c.same_before AS repeated
    FROM compared AS c
    JOIN chosen_sample AS s ON s.snapshot_id = c.snapshot_id AND s.moment = 'now'),
counted AS (
    SELECT snapshot_id, count(DISTINCT topic) AS compared, count_if(differs AND repeated) AS differing,
           count_if(differs AND NOT repeated) AS unrepeated,
           count_if(differs AND repeated AND reference_id IS NOT NULL) > 0 AS other_id
    FROM repeating
    GROUP BY snapshot_id),
ranked AS (
    SELECT r.snapshot_id, r.topic, r.reference_id, r.view_id,
           row_number() OVER (PARTITION BY r.snapshot_id
                              ORDER BY CASE WHEN o.topic IS NULL THEN 0 ELSE 1 END, r.topic, r.reference_id, r.view_id) AS place
    FROM repeating AS r
    LEFT JOIN lone_topic AS o ON o.snapshot_id = r.snapshot_id AND o.topic = r.topic
    WHERE r.differs AND r.repeated),
listed AS (
    SELECT snapshot_id, min_by(topic, place, 10) AS first, max(CASE WHEN place = 1 THEN reference_id END) AS reference_id,
           max(CASE WHEN place = 1 THEN view_id END) AS view_id
    FROM ranked
    GROUP BY snapshot_id)
SELECT c.snapshot_id, c.compared, c.differing, c.unrepeated, c.other_id,
       coalesce(l.first, array()) AS first, l.reference_id, l.view_id
FROM counted AS c
LEFT JOIN listed AS l ON l.snapshot_id = c.snapshot_id
