"""KA301."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import Probe


@sql_check(
    code="KA301",
    severity=Severity.HIGH,
    needs=(Probe,),
    says={
        Status.FAIL: "Clients at {vantage} cannot reach broker {broker} at {host}:{port} ({listener}): {stops}; advertised "
        "endpoints reached: {reached}",
        Status.PASS: "{host}:{port} ({listener} of broker {broker}) is reached from {vantage}",
        Status.UNKNOWN: "Not known: whether clients reach broker {broker} at {host}:{port} ({listener}): {error}",
    },
)
def endpoint_unreachable() -> str:
    """An advertised endpoint cannot be reached from a client vantage.

    ## Why it matters
    Bootstrap works with any one broker; then clients go to the leader's advertised address. What it leads is lost to them.

    ## Fails when
    A probe from a client vantage (this worker is one) fails in two looks with the same registration. The layer that fails first
    is named for each: dns (no address; the evidence has who was asked), tcp, tls, sasl, api (ApiVersions). Who answers: KA111.

    ## Not known when
    No vantage probed it, a layer could not be tried there (see `needs`), or it failed once. Addresses that lead to no other host
    (link-local, multicast, unspecified, broadcast) or to a cloud's metadata service are not dialled, also where a name means one.

    ## Passes only when
    Every client vantage got through every layer that it tried.

    ## What to do
    Repeat it where it failed: `getent hosts {host}`, then `nc -vz -w 3 {host} {port}`. dns: a name that clients resolve too, or a
    proxy, or clients inside. tcp: route, firewall, forward for this very broker; one forward for the bootstrap address alone is
    never enough. tls: `openssl s_client -connect {host}:{port} -servername {host}`. sasl: the mechanism and user of that
    listener. Where clients and brokers need different addresses: `advertised.listeners=INTERNAL://…,EXTERNAL://…`.

    ## References
    KIP-103 (listeners for different traffic), KIP-302 (all addresses of a name).
    """
    return """
        WITH client AS (SELECT * FROM path WHERE role = 'client'),
        tally AS (
            SELECT snapshot_id, array_join(array_sort(collect_list(concat(vantage, ' ', k, ' of ', n))), ', ') AS reached
            FROM (SELECT snapshot_id, vantage, count_if(state = 'open') AS k, count(*) AS n FROM client GROUP BY ALL)
            GROUP BY snapshot_id),
        ranked AS (
            SELECT *, array_position(array('closed', 'moving', 'unknown', 'open'), state) AS rank,
                   min(array_position(array('closed', 'moving', 'unknown', 'open'), state))
                       OVER (PARTITION BY snapshot_id, broker_id, listener) AS worst FROM client),
        seen AS (
            SELECT snapshot_id, broker_id, listener, min(state) AS state,
                   min_by(coalesce(failed, unknown), coalesce(failed, unknown).rank) AS stop,
                   array_join(array_sort(collect_set(concat(
                       failed.layer, ' failed with ', coalesce(failed.error, 'no reason'), ' at ', vantage))), ', ') AS stops,
                   array_join(array_sort(collect_set(vantage)), ', ') AS vantage,
                   array_join(array_sort(collect_set(via)), ', ') AS via
            FROM ranked WHERE rank = worst GROUP BY snapshot_id, broker_id, listener)
        SELECT e.snapshot_id, 'KA301' AS code, e.resource,
               CASE s.state WHEN 'closed' THEN 'FAIL' WHEN 'open' THEN 'PASS' ELSE 'UNKNOWN' END AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('broker', string(e.broker_id), 'host', e.host, 'port', string(e.port), 'listener', e.listener,
                   'vantage', s.vantage, 'via', nullif(s.via, ''), 'layer', s.stop.layer, 'stops', s.stops, 'reached', t.reached,
                   'resolver', if(s.stop.layer = 'dns', nullif(replace(s.stop.detail, 'by ', ''), ''), NULL),
                   'error', CASE WHEN s.state IS NULL THEN 'not probed'
                        WHEN s.state = 'moving'
                        THEN concat('in motion: ', s.stop.layer, ' failed once with ', coalesce(s.stop.error, 'no reason'))
                        WHEN s.state = 'unknown'
                        THEN coalesce(s.stop.error, concat(s.stop.layer, ' was not tried'), 'the probe did not end')
                        ELSE coalesce(s.stop.error, 'no reason') END,
                   'needs', CASE WHEN s.state IS NULL THEN 'a vantage with role client that probes this listener'
                                 WHEN s.state = 'moving' THEN 'another audit'
                                 ELSE coalesce(s.stop.needs, 'another audit') END) AS evidence
        FROM endpoint AS e
        LEFT JOIN seen AS s ON s.snapshot_id = e.snapshot_id AND s.broker_id = e.broker_id AND s.listener = e.listener
        LEFT JOIN tally AS t ON t.snapshot_id = e.snapshot_id
    """
