"""KA111."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerIdentity, Probe


@sql_check(
    code="KA111",
    severity=Severity.CRITICAL,
    needs=(BrokerIdentity, Probe),
    says={
        Status.FAIL: "Clients that want broker {broker} reach {answered_by} at {host}:{port} ({listener}), seen from {vantage}",
        Status.PASS: "{host}:{port} ({listener}) is answered by broker {broker} itself, seen from {vantage}",
        Status.UNKNOWN: "Not known: who answers at {host}:{port} ({listener} of broker {broker}): {error}",
    },
)
def endpoint_answered_by_other() -> str:
    """The endpoint that a broker advertises is answered by another broker, or by another cluster.

    ## Why it matters
    A forward wired to the wrong broker, a name that moved, a machine that kept its address: the port is open, and every request
    for this broker's partitions ends in NOT_LEADER_OR_FOLLOWER, or in somebody else's data.

    ## Fails when
    The socket itself says another broker id than the one that advertises it, or another cluster id, in two looks. It is asked
    DescribeConfigs for broker 2147483647, which no broker is; error 42 then names the one that answers.

    ## Not known when
    The endpoint was not reached (KA301), the auditor lacks DescribeConfigs on Cluster, or another answer was seen only once.

    ## Passes only when
    The socket said the id of the broker that advertises it.

    ## What to do
    `kafka-configs.sh --bootstrap-server {host}:{port} --describe --entity-type brokers --entity-name {broker}` fails with
    `Unexpected broker id, expected …`, which names who answers. Follow the address: `getent hosts {host}` where clients are, then
    the forward's or proxy's table for port {port}. Lead it to broker {broker}; the command then succeeds.

    ## References
    Error 42 INVALID_REQUEST of `kafka.server.ConfigHelper`; KAFKA-14885.
    """
    return """
        WITH told AS (
            SELECT snapshot_id, slot, broker_id, listener, 'worker' AS vantage, answered_by, kafka_cluster_id
            FROM broker_identity_at WHERE slot <> 'previous'
            UNION ALL
            SELECT snapshot_id, slot, broker_id, listener, vantage, if(detail RLIKE '^[0-9]{1,10}$', bigint(detail), NULL), NULL
            FROM probe_at WHERE slot <> 'previous' AND layer = 'identity' AND role = 'client'),
        judged_answer AS (
            SELECT t.*, t.answered_by IS NOT NULL AS known,
                   coalesce(t.answered_by <> t.broker_id OR t.kafka_cluster_id <> j.kafka_cluster_id, false) AS other,
                   if(t.kafka_cluster_id <> j.kafka_cluster_id, concat('cluster ', t.kafka_cluster_id),
                      concat('broker ', t.answered_by)) AS who
            FROM told AS t JOIN judged AS j ON j.snapshot_id = t.snapshot_id),
        answer AS (
            SELECT snapshot_id, broker_id, listener,
                   min(who) FILTER (WHERE slot = 'now' AND other) AS other_now,
                   min(who) FILTER (WHERE slot = 'before' AND other) AS other_before,
                   count_if(slot = 'now' AND known AND NOT other) AS right_now,
                   array_join(array_sort(collect_set(vantage) FILTER (WHERE slot = 'now' AND other)), ', ') AS other_from,
                   array_join(array_sort(collect_set(vantage) FILTER (WHERE slot = 'now' AND known)), ', ') AS known_from
            FROM judged_answer GROUP BY snapshot_id, broker_id, listener),
        refused AS (
            SELECT snapshot_id, name, min(error) AS error, min(needs) AS needs FROM read_now
            WHERE slot = 'now' AND outcome = 'failed' AND operation ILIKE '%identity%' GROUP BY snapshot_id, name)
        SELECT e.snapshot_id, 'KA111' AS code, e.resource,
               CASE WHEN a.other_now IS NOT NULL THEN if(a.other_before IS NOT NULL, 'FAIL', 'UNKNOWN')
                    WHEN a.right_now > 0 THEN 'PASS' ELSE 'UNKNOWN' END AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('broker', string(e.broker_id), 'host', e.host, 'port', string(e.port), 'listener', e.listener,
                   'answered_by', a.other_now, 'vantage', if(a.other_now IS NULL, a.known_from, a.other_from),
                   'error', CASE WHEN a.other_now IS NULL THEN coalesce(r.error, 'the socket did not tell')
                                 WHEN a.other_before IS NULL THEN 'in motion' END,
                   'needs', if(a.other_now IS NOT NULL, 'another audit: this was seen once',
                               coalesce(r.needs, 'an open way there, and DescribeConfigs on Cluster'))) AS evidence
        FROM endpoint AS e
        LEFT JOIN answer AS a ON a.snapshot_id = e.snapshot_id AND a.broker_id = e.broker_id AND a.listener = e.listener
        LEFT JOIN refused AS r ON r.snapshot_id = e.snapshot_id AND r.name = string(e.broker_id)
    """
