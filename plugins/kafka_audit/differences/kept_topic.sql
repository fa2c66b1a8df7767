-- Topics that views list and the reference does not have, now, by observer; `repeated`: how many of them the sample before shows, too.
WITH lists AS (
    SELECT DISTINCT snapshot_id, moment, source_id, topics_digest FROM observer_view),
kept AS (
    SELECT l.snapshot_id, l.moment, l.topics_digest, v.topic
    FROM lists AS l
    JOIN view_topic AS v ON v.snapshot_id = l.source_id AND v.topics_digest = l.topics_digest AND v.error = 0
    LEFT JOIN topic_state AS t ON t.snapshot_id = l.snapshot_id AND t.moment = l.moment AND t.topic = v.topic
    WHERE t.topic IS NULL),
said AS (
    SELECT o.snapshot_id, o.name, k.topic, count_if(o.moment = 'before') > 0 AS same_before
    FROM observer_view AS o
    JOIN kept AS k ON k.snapshot_id = o.snapshot_id AND k.moment = o.moment AND k.topics_digest = o.topics_digest
    GROUP BY o.snapshot_id, o.name, k.topic
    HAVING count_if(o.moment = 'now') > 0),
ranked AS (
    SELECT a.snapshot_id, a.name, a.topic, a.same_before AND s.steady AS repeated,
           row_number() OVER (PARTITION BY a.snapshot_id, a.name ORDER BY a.topic) AS place
    FROM said AS a
    JOIN chosen_sample AS s ON s.snapshot_id = a.snapshot_id AND s.moment = 'now')
SELECT snapshot_id, name, count(*) AS topics, count_if(repeated) AS repeated, min_by(topic, place, 10) AS first
FROM ranked
GROUP BY snapshot_id, name
