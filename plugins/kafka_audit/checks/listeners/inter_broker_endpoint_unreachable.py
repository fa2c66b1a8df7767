"""KA302."""

from kafka_audit.checks import sql_check
from kafka_audit.checks.listeners.cut_words import WORDED
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import Probe, RegisteredBroker, RegisteredEndpoint


@sql_check(
    code="KA302",
    severity=Severity.CRITICAL,
    needs=(RegisteredBroker, RegisteredEndpoint, Probe),
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
    registered and useless: an empty view, `controller_id` -1, no topics, while ZooKeeper says full ISR. A follower that cannot
    reach its leader falls out of the ISR.

    ## Fails when
    Measured: a probe from a broker's own host fails at dns or tcp in two looks, or its log says so, newer than both starts and
    still repeated. CRITICAL where the controller's side is cut, or something is broken; HIGH where it is not yet.

    Inferred, where the controller's side was not measured: the broker's own view is empty or stale, or a follower that replicates
    elsewhere is in the ISR of nothing that this broker leads (in KRaft, where nobody tells who restarted: no follower is), and
    neither a missing right (KA401) nor a refused login (KA412) can be the reason. Suspected: one of these could not be ruled
    out; it is named.

    ## Not known when
    Nothing was measured and nothing looks wrong, KA401 or KA412 was found there, or the symptom was seen once.

    ## Passes only when
    Probes from every registered broker's host got a tcp connection.

    ## What to do
    On the host of {who}: `nc -vz -w 3 {host} {port}` and `grep '(id: {broker} rack.*unsuccessful' controller.log`. Do not
    trust `kafka-topics.sh --zookeeper` (up to Kafka 2.8): it asks no broker.

    Quick: an address in `advertised.listeners` of broker {broker} that clients and every possible controller resolve and reach
    (`/etc/hosts` of the brokers, a hairpin rule at the forward). Costs a restart of that broker.

    Lasting: a listener of the brokers' own (`inter.broker.listener.name`), at addresses that every broker reaches. First add it
    to `listeners` and `advertised.listeners` everywhere, then switch to it. Costs two rolling restarts.

    ## References
    KIP-103 (listeners for different traffic); `kafka.controller.RequestSendThread`.
    """
    weighed = """
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
            FROM inter_broker_case),"""
    told = """
        SELECT snapshot_id, 'KA302' AS code, if(host IS NULL, broker_resource, resource) AS resource,
               CASE WHEN verdict IN ('measured', 'inferred', 'suspected') THEN 'FAIL' WHEN verdict = 'open' THEN 'PASS'
                    ELSE 'UNKNOWN' END AS status,
               if(verdict = 'measured' AND NOT coalesce(cut_from_controller, false) AND NOT broken, 'HIGH', NULL) AS severity,
               if(verdict IN ('inferred', 'suspected'), verdict, 'measured') AS confidence,
               map('target', concat('broker ', broker_id), 'broker', string(broker_id), 'controller', string(controller_id),
                   'host', host, 'port', string(port), 'listener', listener, 'protocol', protocol, 'from', from_text, 'who', who,
                   'cannot', cannot, 'why', why, 'layer', if(verdict = 'measured', seen.layer, NULL), 'symptom', symptom,
                   'vantage', vantage, 'rivals', if(verdict = 'suspected', rivals, NULL), 'open', array_join(open, ', '),
                   'error', error, 'needs', needs) AS evidence
        FROM explained"""
    return f"{weighed}{WORDED}{told}"
