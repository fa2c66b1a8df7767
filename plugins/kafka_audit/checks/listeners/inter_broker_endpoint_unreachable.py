"""KA302."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import Probe, RegisteredBroker, RegisteredEndpoint, Registry


@sql_check(
    code="KA302",
    severity=Severity.CRITICAL,
    needs=(Registry, RegisteredBroker, RegisteredEndpoint, Probe),
    says={
        Status.FAIL: "Broker {broker} is cut off: {who} {cannot} reach {host}:{port}, its address for brokers ({listener}): "
        "{why}",
        Status.PASS: "Every broker reaches broker {broker} at {host}:{port} ({listener}): tcp open from {open}",
        Status.UNKNOWN: "Not known: whether the other brokers reach {target}: {error}",
        Status.NOT_APPLICABLE: "No registered endpoints between brokers: {reason}",
    },
)
def inter_broker_endpoint_unreachable() -> str:
    """A broker cannot reach the address that another broker, or it itself, advertises for inter-broker traffic.

    ## Why it matters
    The controller tells every broker, itself included, through that address who leads what. Where it cannot, the broker is up,
    registered and useless: an empty view, `controller_id` -1, no topics. Topics are created, leaders are elected, nothing works,
    and ZooKeeper says full ISR. A follower that cannot reach its leader falls out of the ISR.

    ## Fails when
    Measured: a probe from a broker's own host fails at dns or tcp in two looks. CRITICAL where the controller's side is cut, or
    something is broken already; HIGH where neither the controller nor a leader is concerned yet (the next election may change
    that).

    Inferred, where the controller's side was not measured: the broker's own view is empty or stale, or a follower that does
    replicate elsewhere is in the ISR of nothing that this broker leads, and neither a missing right (KA401) nor a refused login
    (KA412) can be the reason. Suspected: one of these could not be ruled out; it is named.

    ## Not known when
    Nothing was measured and nothing looks wrong (an idle follower stays in the ISR through a cut), KA401 or KA412 was found
    there, or the symptom was seen once.

    ## Passes only when
    Probes from every registered broker's host got a tcp connection.

    ## What to do
    See it, on the host of {who}: `nc -vz {host} {port}` and
    `grep 'connection to broker {broker} ' controller.log`, which repeats `… ({host}:{port}) was unsuccessful`. Do not trust
    `kafka-topics --zookeeper`; it asks no broker.

    Quick: an address in `advertised.listeners` of broker {broker} that clients and every possible controller resolve and reach
    (an entry in `/etc/hosts` of the brokers, a hairpin rule at the forward). Costs a restart of that broker.

    Lasting: a listener of its own for brokers: `listeners=INTERNAL://:9094,EXTERNAL://:9092`,
    `advertised.listeners=INTERNAL://<inside>:9094,EXTERNAL://<forward>:9092`, `inter.broker.listener.name=INTERNAL`. Costs a
    rolling restart.

    ## References
    KIP-103; log line `Controller 0's connection to broker 10.99.0.12:9092 (id: 2 rack: null) was unsuccessful`.
    """
    return """
        WITH weighed AS (
            SELECT *, array_contains(closed, controller_id) AS cut_from_controller,
                   CASE WHEN host IS NULL THEN 'no_listener'
                        WHEN size(closed) > 0 THEN 'measured'
                        WHEN answered AND (view_status = 'FAIL' OR size(absent) > 0)
                            THEN CASE WHEN supported <> '' THEN 'explained' WHEN rivals <> '' THEN 'suspected' ELSE 'inferred' END
                        WHEN size(moving) > 0 OR view_status = 'UNKNOWN' THEN 'moving'
                        WHEN size(unmeasured) = 0 THEN 'open' ELSE 'unmeasured' END AS verdict,
                   CASE WHEN size(closed) > 0 THEN closed WHEN view_status = 'FAIL' THEN array(controller_id) ELSE absent END
                       AS sides
            FROM inter_broker_case),
        worded AS (
            SELECT *, array_join(sides, ', ') AS from_text,
                   if(size(sides) = 1 AND get(sides, 0) <=> controller_id, concat('controller ', controller_id),
                      concat(if(size(sides) = 1, 'broker ', 'brokers '), array_join(sides, ', '))) AS who,
                   CASE WHEN view_status = 'FAIL' AND empty THEN concat('broker ', broker_id,
                       ' lists no broker and no controller')
                        WHEN view_status = 'FAIL' THEN concat('broker ', broker_id, ' names leaders that ZooKeeper does not hold')
                        WHEN size(absent) > 0 THEN concat('in the ISR of nothing that broker ', broker_id, ' leads: broker ',
                                                          array_join(absent, ', ')) END AS symptom
            FROM weighed)
        SELECT snapshot_id, 'KA302' AS code, if(host IS NULL, broker_resource, resource) AS resource,
               CASE WHEN verdict IN ('measured', 'inferred', 'suspected') THEN 'FAIL' WHEN verdict = 'open' THEN 'PASS'
                    ELSE 'UNKNOWN' END AS status,
               if(verdict = 'measured' AND NOT coalesce(cut_from_controller, false) AND NOT broken, 'HIGH', NULL) AS severity,
               if(verdict IN ('inferred', 'suspected'), verdict, 'measured') AS confidence,
               map('target', concat('broker ', broker_id), 'broker', string(broker_id), 'controller', string(controller_id),
                   'host', host, 'port', string(port), 'listener', listener, 'protocol', protocol, 'from', from_text, 'who', who,
                   'cannot', CASE verdict WHEN 'inferred' THEN 'most likely cannot' WHEN 'suspected' THEN 'possibly cannot'
                             ELSE 'cannot' END,
                   'why', CASE verdict WHEN 'measured' THEN concat(seen.layer, ' failed with ', coalesce(seen.error, 'no reason'))
                          WHEN 'suspected' THEN concat(symptom, '; not ruled out: ', rivals) ELSE symptom END,
                   'layer', if(verdict = 'measured', seen.layer, NULL), 'symptom', symptom, 'vantage', vantage,
                   'rivals', if(verdict = 'suspected', rivals, NULL), 'open', array_join(open, ', '),
                   'error', CASE verdict WHEN 'no_listener' THEN 'its inter-broker listener is not known'
                            WHEN 'explained' THEN concat(symptom, ', which ', supported, ' explains')
                            WHEN 'moving' THEN 'in motion'
                            WHEN 'measured' THEN coalesce(seen.error, 'no reason')
                            WHEN 'unmeasured' THEN if(size(open) > 0, concat('tcp was measured from broker ', array_join(open,
                                ', '),
                                                      ' only'), 'nothing looks wrong, and nothing was measured') END,
                   'needs', CASE verdict WHEN 'no_listener' THEN 'DescribeConfigs on Cluster'
                            WHEN 'explained' THEN 'a vantage with role broker'
                            WHEN 'moving' THEN 'another audit: this was seen once, or the cluster changed between two looks'
                            WHEN 'unmeasured' THEN coalesce(side_needs, if(size(open) = 0, 'a vantage with role broker',
                                                      concat('a probe from broker ', array_join(unmeasured, ', ')))) END)
                                                          AS evidence
        FROM worded
    """
