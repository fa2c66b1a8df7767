"""Which rows count: the newest look at each judged cluster, the look before it, the previous snapshot, and what was not read."""

from kafka_audit.engine.prepared import among_brokers
from kafka_audit.engine.view import View
from kafka_audit.model.tables import SQL_TABLES, Row, columns

LOOK = View(
    name="look",
    doc="""Where each judged snapshot's rows come from: `slot` now (last sample), before (the one before it, if any) or previous
    (last sample of the previous snapshot); `source_id` and `sample` say which rows of the tables that is.""",
    sql="""
        WITH aged AS (
            SELECT snapshot_id, sample, row_number() OVER (PARTITION BY snapshot_id ORDER BY sample DESC) AS age FROM sample)
        SELECT p.snapshot_id, if(a.age = 1, 'now', 'before') AS slot, a.snapshot_id AS source_id, a.sample
        FROM pair AS p JOIN aged AS a ON a.snapshot_id = p.snapshot_id AND a.age <= 2
        UNION ALL
        SELECT p.snapshot_id, 'previous', a.snapshot_id, a.sample
        FROM pair AS p JOIN aged AS a ON a.snapshot_id = p.previous_snapshot_id AND a.age = 1
    """,
    kept="small",
)


def _at(table: type[Row]) -> View:
    instead, more = among_brokers.INSTEAD.get(table, ("", ""))
    own = ", ".join([*(f"t.{column.name}" for column in columns(table) if column.name != "sample"), *([more] if more else [])])
    stored = f"""
            SELECT l.snapshot_id, l.slot, {own}
            FROM {table.table()} AS t JOIN look AS l ON l.source_id = t.snapshot_id AND l.sample = t.sample
        """  # noqa: S608 -- names of our own dataclasses
    told = "; in KRaft mode what brokers hold among themselves, see `among_brokers`" if instead else ""
    return View(
        name=f"{table.table()}_at",
        doc=f"`{table.table()}` by slot instead of sample, keyed by the judged snapshot, the previous one's rows too{told}.",
        sql=stored,
        kraft=f" UNION ALL SELECT * FROM ({instead})" if instead else "",  # noqa: S608 -- our own text
        kept="table",
    )


SAMPLED: tuple[type[Row], ...] = tuple(
    table
    for table in SQL_TABLES
    if any(column.name == "sample" for column in columns(table)) and table.table() not in {"sample", "source_read"}
)

JUDGED = View(
    name="judged",
    doc="""One row per judged snapshot: mode, expectations and limits, what /controller, /controller_epoch and /cluster/id hold
    (now, in the look before, in the previous snapshot), and `steady`: there were two looks, and neither the controller nor the
    list of brokers (KRaft: the newest that brokers hold) was written in between. What two observers say differently counts only
    then; otherwise it may have been caught in motion. `holders`: who holds the newest view in KRaft, as words; null with
    ZooKeeper.""",
    sql="""
        SELECT p.snapshot_id, p.previous_snapshot_id, i.mode, i.expect_brokers, i.expect_cluster_id, i.leader_moves,
               i.broker_vantages,
               concat(if(size(n.holders) > 1, 'brokers ', 'broker '), if(size(n.holders) > 1,
                   concat(array_join(slice(n.holders, 1, least(size(n.holders) - 1, 9)), ', '), ' and ',
                          if(size(n.holders) > 10, concat(size(n.holders) - 9, ' more'), element_at(n.holders, -1))),
                   n.holders[0])) AS holders, n.snapshot_id IS NOT NULL AS registry_read, n.kafka_cluster_id, n.controller_id,
               n.controller_epoch, n.zxid_before, b.snapshot_id IS NOT NULL AS seen_twice, b.controller_id
                   AS before_controller_id,
               b.controller_epoch AS before_controller_epoch, q.controller_epoch AS previous_controller_epoch,
               b.snapshot_id IS NOT NULL AND n.controller_mzxid <=> b.controller_mzxid
                   AND n.brokers_pzxid <=> b.brokers_pzxid AS steady
        FROM pair AS p
        JOIN snapshot_info AS i ON i.snapshot_id = p.snapshot_id
        LEFT JOIN registry_at AS n ON n.snapshot_id = p.snapshot_id AND n.slot = 'now'
        LEFT JOIN registry_at AS b ON b.snapshot_id = p.snapshot_id AND b.slot = 'before'
        LEFT JOIN registry_at AS q ON q.snapshot_id = p.snapshot_id AND q.slot = 'previous'
    """,
    kept="small",
)

READ_NOW = View(
    name="read_now",
    doc="""Every read of a judged snapshot (slot now) and of its previous one (slot previous) as it ended when it was asked last;
    `name` is the broker's id, or the address of one whose id nobody knows, and null for other parties.""",
    sql="""
        WITH of_pair AS (
            SELECT p.snapshot_id, 'now' AS slot, r.* EXCEPT (snapshot_id, cluster_id)
            FROM pair AS p JOIN source_read AS r ON r.snapshot_id = p.snapshot_id
            UNION ALL
            SELECT p.snapshot_id, 'previous' AS slot, r.* EXCEPT (snapshot_id, cluster_id)
            FROM pair AS p JOIN source_read AS r ON r.snapshot_id = p.previous_snapshot_id)
        SELECT * FROM (
            SELECT *, if(observer RLIKE '^broker[:@]', substr(observer, 8), NULL) AS name,
                   row_number() OVER (PARTITION BY snapshot_id, slot, observer, operation, target ORDER BY sample DESC) AS age
            FROM of_pair)
        WHERE age = 1
    """,
    kept="small",
)

UNREAD = View(
    name="zookeeper_unread",
    doc="""Parts of ZooKeeper (`part`: brokers, controller, topics) that could not be read. `whole` is false where only single
    znodes of the part failed: what was read can fail a check, but not pass it.""",
    sql="""
        SELECT snapshot_id, slot, part, bool_or(whole) AS whole, min_by(error, not_whole) AS error, min_by(needs, not_whole)
            AS needs
        FROM (
            SELECT snapshot_id, slot, error, needs, operation NOT RLIKE '^zookeeper /brokers/(ids|topics)/[^*]' AS whole,
                   operation RLIKE '^zookeeper /brokers/(ids|topics)/[^*]' AS not_whole,
                   CASE WHEN operation RLIKE '^zookeeper /brokers/ids' THEN 'brokers'
                        WHEN operation RLIKE '^zookeeper /(brokers/topics|admin/delete_topics)' THEN 'topics'
                        WHEN operation RLIKE '^zookeeper /controller' THEN 'controller' END AS part
            FROM read_now WHERE observer = 'zookeeper' AND outcome = 'failed')
        WHERE part IS NOT NULL
        GROUP BY snapshot_id, slot, part
    """,
)

GAP = View(
    name="zookeeper_gap",
    doc="""Parts of ZooKeeper that a judged snapshot (slot now), or its previous one, cannot be judged by: UNKNOWN where the part
    was not read, NOT_APPLICABLE where there is no previous snapshot. In KRaft mode there is no controller to compare with, and
    brokers and topics are what brokers hold among themselves: a gap where fewer than two gave a view. `whole` as in
    `zookeeper_unread`.""",
    sql="""
        WITH wanted AS (
            SELECT j.snapshot_id, slot, part, j.mode, j.previous_snapshot_id, j.registry_read
            FROM judged AS j CROSS JOIN (VALUES ('now'), ('previous')) AS s(slot)
            CROSS JOIN (VALUES ('brokers'), ('controller'), ('topics')) AS p(part)
            WHERE NOT (j.mode = 'kraft' AND slot = 'previous' AND part = 'controller')),
        alone AS (
            SELECT snapshot_id, slot, max(brokers_listed) = 1 AS alone FROM broker_view_at GROUP BY snapshot_id, slot),
        told AS (
            SELECT w.snapshot_id, w.slot, w.part, coalesce(u.whole, true) AS whole, w.mode,
                   if(w.mode = 'kraft', 'fewer than two brokers gave a view', u.error) AS error,
                   if(w.mode = 'kraft', 'answers of two brokers to Metadata', u.needs) AS needs,
                   CASE WHEN w.mode = 'kraft' AND w.part = 'controller' THEN 'the cluster runs in KRaft mode, without ZooKeeper'
                        WHEN w.slot = 'previous' AND w.previous_snapshot_id IS NULL THEN 'no previous snapshot'
                        WHEN w.mode = 'kraft' AND r.snapshot_id IS NULL AND a.alone
                            THEN 'a single broker carries the cluster, so there is no other view' END AS reason,
                   u.snapshot_id IS NOT NULL OR r.snapshot_id IS NULL AS unread
            FROM wanted AS w
            LEFT JOIN zookeeper_unread AS u ON u.snapshot_id = w.snapshot_id AND u.slot = w.slot AND u.part = w.part
            LEFT JOIN registry_at AS r ON r.snapshot_id = w.snapshot_id AND r.slot = w.slot
            LEFT JOIN alone AS a ON a.snapshot_id = w.snapshot_id AND a.slot = w.slot)
        SELECT snapshot_id, slot, part, whole, if(reason IS NULL, 'UNKNOWN', 'NOT_APPLICABLE') AS status, reason,
               CASE WHEN reason IS NOT NULL THEN NULL
                    WHEN mode = 'kraft' THEN concat(if(slot = 'now', '', 'in the previous snapshot '), error)
                    ELSE concat(if(slot = 'now', 'ZooKeeper was not read: ', 'the previous snapshot has not read ZooKeeper: '),
                                coalesce(error, 'no answer')) END AS error,
               CASE WHEN reason IS NOT NULL THEN NULL WHEN slot = 'now' THEN coalesce(needs, 'a ZooKeeper that answers')
                    WHEN mode = 'kraft' THEN 'two snapshots with views of two brokers'
                    ELSE 'two snapshots that have read it' END AS needs
        FROM told WHERE reason IS NOT NULL OR unread
    """,
    kept="small",
)

VIEWS: tuple[View, ...] = (LOOK, *among_brokers.VIEWS, *(_at(table) for table in SAMPLED), JUDGED, READ_NOW, UNREAD, GAP)
