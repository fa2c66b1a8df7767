"""Advertised endpoints, and how far each vantage gets on its way to them."""

from kafka_audit.engine.view import View

ENDPOINT = View(
    name="endpoint",
    doc="""Advertised endpoints: as registered now, or as probed where there is no registration to read.""",
    sql="""
        WITH registered AS (SELECT * FROM registered_listener WHERE slot = 'now' AND listener <> ''),
        probed AS (
            SELECT snapshot_id, broker_id, listener, max(protocol) AS protocol, max(host) AS host, max(port) AS port
            FROM probe_at WHERE slot = 'now' AND snapshot_id NOT IN (SELECT snapshot_id FROM registered)
            GROUP BY snapshot_id, broker_id, listener)
        SELECT snapshot_id, broker_id, listener, protocol, host, port, concat('broker/', broker_id, '/listener/', listener)
            AS resource
        FROM (SELECT snapshot_id, broker_id, listener, protocol, host, port FROM registered UNION ALL SELECT * FROM probed)
    """,
    kept="small",
)

PATH = View(
    name="path",
    doc="""One row per vantage and endpoint probed in the newest look. `failed` and `unknown` are the first such layer (rank: dns
    1, tcp 2, tls 3, sasl 4, api 5; whether the right broker answers is another question), `reached` the rank of the last layer
    that worked. `state`: open; closed, when it failed in both looks with the same registration; moving, when it failed in this
    look only; unknown. `network` is the same for dns and tcp alone.""",
    sql="""
        WITH ranked AS (
            SELECT *, array_position(array('dns', 'tcp', 'tls', 'sasl', 'api'), layer) AS rank FROM probe_at
                WHERE slot <> 'previous'),
        ended AS (
            SELECT snapshot_id, vantage, role, from_broker, broker_id, listener, max(if(slot = 'now', via, NULL)) AS via,
                   min_by(struct(rank, layer, error, detail, needs), rank) FILTER (WHERE outcome = 'failed' AND slot = 'now')
                       AS failed,
                   min_by(struct(rank, layer, error, detail, needs), rank) FILTER (WHERE outcome = 'unknown' AND slot = 'now')
                       AS unknown,
                   coalesce(max(rank) FILTER (WHERE outcome = 'ok' AND slot = 'now'), 0) AS reached,
                   min(rank) FILTER (WHERE outcome = 'failed' AND slot = 'before') AS before_rank
            FROM ranked WHERE rank > 0
            GROUP BY snapshot_id, vantage, role, from_broker, broker_id, listener HAVING bool_or(slot = 'now')),
        registration AS (
            SELECT snapshot_id, broker_id, count(DISTINCT mzxid) = 1 AS same FROM registered_listener GROUP BY snapshot_id,
                broker_id),
        both AS (
            SELECT e.*, coalesce(r.same, true) AS same
            FROM ended AS e LEFT JOIN registration AS r ON r.snapshot_id = e.snapshot_id AND r.broker_id = e.broker_id)
        SELECT snapshot_id, vantage, role, from_broker, broker_id, listener, via, failed, unknown, reached,
               CASE WHEN failed IS NOT NULL THEN if(before_rank IS NOT NULL AND same, 'closed', 'moving')
                    WHEN unknown IS NOT NULL OR reached < 2 THEN 'unknown' ELSE 'open' END AS state,
               CASE WHEN failed.rank <= 2 THEN if(before_rank <= 2 AND same, 'closed', 'moving')
                    WHEN reached >= 2 THEN 'open' ELSE 'unknown' END AS network
        FROM both
    """,
    kept="small",
)

INTER_BROKER = View(
    name="inter_broker_endpoint",
    doc="""The endpoint on which each registered broker hears the others: the listener named by inter.broker.listener.name, else
    the one named after security.inter.broker.protocol, else what every other broker says, else the only one. host is null where
    that does not decide, or nobody told the address of that listener, `wanted`. `answered`: the broker gave a view. `network`
    rests on no probe.""",
    sql="""
        WITH others AS (
            SELECT snapshot_id, if(count(DISTINCT coalesce(listener_name, protocol)) = 1, min(coalesce(listener_name,
                protocol)), NULL)
                   AS listener
            FROM broker_setting GROUP BY snapshot_id),
        only AS (
            SELECT snapshot_id, broker_id, if(count(*) = 1, min(listener), NULL) AS listener
            FROM registered_listener WHERE slot = 'now' GROUP BY snapshot_id, broker_id)
        SELECT b.snapshot_id, b.broker_id, o.resource AS broker_resource, o.answered, s.authorizer, e.listener, e.protocol,
            e.host,
               e.port, concat('broker/', b.broker_id, '/listener/', e.listener) AS resource,
               coalesce(s.listener_name, s.protocol, a.listener, y.listener) AS wanted
        FROM registered_broker_at AS b
        JOIN observer AS o ON o.snapshot_id = b.snapshot_id AND o.name = string(b.broker_id)
        LEFT JOIN broker_setting AS s ON s.snapshot_id = b.snapshot_id AND s.broker_id = b.broker_id
        LEFT JOIN others AS a ON a.snapshot_id = b.snapshot_id
        LEFT JOIN only AS y ON y.snapshot_id = b.snapshot_id AND y.broker_id = b.broker_id
        LEFT JOIN endpoint AS e ON e.snapshot_id = b.snapshot_id AND e.broker_id = b.broker_id
            AND e.listener = coalesce(s.listener_name, s.protocol, a.listener, y.listener)
        WHERE b.slot = 'now'
    """,
    kept="small",
)

VIEWS: tuple[View, ...] = (ENDPOINT, PATH, INTER_BROKER)
