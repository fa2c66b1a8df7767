"""What speaks for and against a cut between brokers: measured sides, symptoms in the views, gaps in the ISR, rival causes."""

from kafka_audit.engine.view import View

SIDE = View(
    name="broker_side",
    doc="""How each broker's own host (`from_broker`) reaches each inter-broker endpoint on the network: closed, moving, open or
    unknown, and the layer and error where it does not.""",
    sql="""
        SELECT p.snapshot_id, p.broker_id, p.from_broker,
               min_by(p.network, rank) AS network, min_by(p.failed, rank) AS failed, min_by(p.vantage, rank) AS vantage,
               max(p.unknown.needs) AS needs
        FROM (SELECT *, array_position(array('closed', 'moving', 'open', 'unknown'), network) AS rank FROM path) AS p
        JOIN inter_broker_endpoint AS e
            ON e.snapshot_id = p.snapshot_id AND e.broker_id = p.broker_id AND e.listener = p.listener
        WHERE p.role = 'broker' AND p.from_broker IS NOT NULL
        GROUP BY p.snapshot_id, p.broker_id, p.from_broker
    """,
)

SYMPTOM = View(
    name="view_symptom",
    doc="""Brokers whose own view is empty or stale, as the controller leaves it when it cannot reach them; `status` is FAIL where
    that lasts, UNKNOWN where it may be in motion. Without a controller there is nobody who could have told them.""",
    sql="""
        SELECT snapshot_id, name, min(status) AS status, coalesce(bool_or(empty), false) AS empty
        FROM observer_matter
        WHERE status IS NOT NULL AND right_controller_id IS NOT NULL
            AND ((matter = 'broker' AND empty) OR matter IN ('leader', 'no_leader'))
        GROUP BY snapshot_id, name
    """,
)

REPLICA_GAP = View(
    name="replica_gap",
    doc="""Pairs of a leader and a registered follower that is missing in the ISR of partitions with that leader: in `n`
    partitions both are replicas, in `inside` of them the follower is in the ISR. `settled`: the same in both looks. `alive`: it
    is in the ISR of other partitions, so it does replicate. `cut_later`: every one of these states was written after the follower
    registered, so it did not merely restart and is catching up; in KRaft, where nobody tells when: the leader has no follower
    left at all. `blind`: its own view is empty or stale, so it does not know whom
    to follow. `offline`: a broker lists such a replica as offline, which is a matter of its disks.""",
    sql="""
        WITH copies AS (
            SELECT p.snapshot_id, p.slot, p.topic, p.partition, p.leader, replica, array_contains(p.isr, replica) AS inside,
                   p.state_mzxid
            FROM registered_partition_at AS p LATERAL VIEW explode(p.replicas) r AS replica
            WHERE p.slot <> 'previous' AND p.leader >= 0 AND size(p.replicas) > 1),
        counted AS (
            SELECT snapshot_id, slot, leader, replica, count(*) AS n, count_if(inside) AS inside,
                   min(state_mzxid) AS oldest, max(state_mzxid) AS newest
            FROM copies GROUP BY snapshot_id, slot, leader, replica),
        placed AS (
            SELECT *, sum(inside) OVER (PARTITION BY snapshot_id, slot, replica) > inside AS alive,
                   sum(if(replica = leader, 0, inside)) OVER (PARTITION BY snapshot_id, slot, leader) = 0 AS left_alone
            FROM counted),
        offline AS (
            SELECT DISTINCT h.snapshot_id, v.leader, replica
            FROM held_topics AS h
            JOIN view_topic AS t ON t.snapshot_id = h.snapshot_id AND t.topics_digest = h.topics_digest
            JOIN view_partition AS v
                ON v.snapshot_id = h.snapshot_id AND v.topic_digest = t.topic_digest AND v.topic = t.topic
                LATERAL VIEW explode(v.offline_replicas) o AS replica
            WHERE h.slot = 'now' AND size(v.offline_replicas) > 0)
        SELECT n.snapshot_id, n.leader, n.replica, n.n, n.inside, n.alive, b.leader IS NOT NULL AND j.steady AS settled,
               coalesce(r.czxid < n.oldest, n.left_alone) AS cut_later, s.name IS NOT NULL AS blind,
               o.leader IS NOT NULL AS offline
        FROM placed AS n
        JOIN judged AS j ON j.snapshot_id = n.snapshot_id
        JOIN registered_broker_at AS r ON r.snapshot_id = n.snapshot_id AND r.slot = 'now' AND r.broker_id = n.replica
        LEFT JOIN placed AS b ON b.snapshot_id = n.snapshot_id AND b.slot = 'before' AND b.leader = n.leader
            AND b.replica = n.replica AND b.n = n.n AND b.inside = n.inside AND b.newest = n.newest
        LEFT JOIN offline AS o ON o.snapshot_id = n.snapshot_id AND o.leader = n.leader AND o.replica = n.replica
        LEFT JOIN view_symptom AS s ON s.snapshot_id = n.snapshot_id AND s.name = string(n.replica)
        WHERE n.slot = 'now' AND n.leader <> n.replica AND n.inside < n.n
    """,
    kept="small",
)

RIVAL = View(
    name="rival",
    doc="""Causes that look like a cut from outside, for each inter-broker endpoint: `open` are those that nothing rules out,
    `supported` those that another check found. A missing right (KA401) needs an authorizer; a refused login (KA412) needs a
    login.""",
    sql="""
        WITH verdict AS (
            SELECT e.snapshot_id, e.broker_id, r.code, r.status
            FROM inter_broker_endpoint AS e JOIN row_judgement AS r
                ON r.snapshot_id = e.snapshot_id AND ((r.code = 'KA401' AND r.resource = e.broker_resource)
                    OR (r.code = 'KA412' AND r.resource = e.resource))),
        candidate AS (
            SELECT e.snapshot_id, e.broker_id, c.code, c.meaning,
                   coalesce(bool_or(v.status IN ('PASS', 'NOT_APPLICABLE')), false)
                       OR (c.code = 'KA401' AND coalesce(max(e.authorizer) = '', false))
                       OR (c.code = 'KA412' AND coalesce(max(e.protocol) = 'PLAINTEXT', false)) AS excluded,
                   coalesce(bool_or(v.status = 'FAIL'), false) AS supported
            FROM inter_broker_endpoint AS e
            CROSS JOIN (VALUES ('KA401', 'no ClusterAction for the inter-broker principal'),
                               ('KA412', 'a refused inter-broker login')) AS c(code, meaning)
            LEFT JOIN verdict AS v ON v.snapshot_id = e.snapshot_id AND v.broker_id = e.broker_id AND v.code = c.code
            GROUP BY e.snapshot_id, e.broker_id, c.code, c.meaning)
        SELECT snapshot_id, broker_id,
               array_join(array_sort(collect_list(if(supported, concat(code, ' (', meaning, ')'), NULL))), ' or ') AS supported,
               array_join(array_sort(collect_list(
                   if(NOT excluded AND NOT supported, concat(code, ' (', meaning, ')'), NULL))), ' or ') AS open
        FROM candidate GROUP BY snapshot_id, broker_id
    """,
)

CASE = View(
    name="inter_broker_case",
    doc="""One row per inter-broker endpoint with everything that KA302 weighs: the measured sides (`closed`, `moving`, `open`,
    `unmeasured` are arrays of broker ids; `seen` is the first closed side's layer and error, the controller's if it is one),
    the symptom in the broker's own view where the controller's side is not measured open, `absent`: followers that are in the
    ISR of nothing that this broker leads and whose side is not measured open, `behind`: followers missing anywhere, rivals.""",
    sql="""
        WITH sides AS (
            SELECT s.snapshot_id, s.broker_id,
                   array_sort(collect_set(if(s.network = 'closed', s.from_broker, NULL))) AS closed,
                   array_sort(collect_set(if(s.network = 'moving', s.from_broker, NULL))) AS moving,
                   array_sort(collect_set(if(s.network = 'open', s.from_broker, NULL))) AS open,
                   min_by(s.failed, if(s.from_broker = j.controller_id, -1, s.from_broker))
                       FILTER (WHERE s.network = 'closed') AS seen,
                   min_by(s.vantage, s.from_broker) AS vantage, max(s.needs) AS needs
            FROM broker_side AS s JOIN judged AS j ON j.snapshot_id = s.snapshot_id GROUP BY s.snapshot_id, s.broker_id),
        ids AS (
            SELECT snapshot_id, array_sort(collect_set(broker_id)) AS ids FROM registered_broker_at WHERE slot = 'now'
            GROUP BY snapshot_id),
        gaps AS (
            SELECT snapshot_id, leader,
                   array_sort(collect_set(if(
                       settled AND inside = 0 AND alive AND cut_later AND NOT blind AND NOT offline, replica, NULL))) AS absent,
                   array_sort(collect_set(if(settled, replica, NULL))) AS behind, sum(n) AS n
            FROM replica_gap GROUP BY snapshot_id, leader)
        SELECT e.snapshot_id, e.broker_id, e.broker_resource, e.resource, e.answered, e.listener, e.wanted, e.host, e.port,
               e.protocol,
               j.controller_id, s.seen, s.vantage, s.needs AS side_needs, coalesce(s.closed, array()) AS closed,
               coalesce(s.moving, array()) AS moving, coalesce(s.open, array()) AS open,
               array_except(i.ids, coalesce(s.open, array())) AS unmeasured,
               if(coalesce(array_contains(s.open, j.controller_id), false), NULL, v.status) AS view_status, v.empty,
               array_except(coalesce(g.absent, array()), coalesce(s.open, array())) AS absent,
               coalesce(v.status = 'FAIL', false)
                   OR arrays_overlap(coalesce(s.closed, array()), coalesce(g.behind, array())) AS broken,
               r.supported, r.open AS rivals
        FROM inter_broker_endpoint AS e
        JOIN judged AS j ON j.snapshot_id = e.snapshot_id
        JOIN ids AS i ON i.snapshot_id = e.snapshot_id
        JOIN rival AS r ON r.snapshot_id = e.snapshot_id AND r.broker_id = e.broker_id
        LEFT JOIN sides AS s ON s.snapshot_id = e.snapshot_id AND s.broker_id = e.broker_id
        LEFT JOIN gaps AS g ON g.snapshot_id = e.snapshot_id AND g.leader = e.broker_id
        LEFT JOIN view_symptom AS v ON v.snapshot_id = e.snapshot_id AND v.name = string(e.broker_id)
    """,
)

VIEWS: tuple[View, ...] = (SIDE, SYMPTOM, REPLICA_GAP, RIVAL, CASE)
