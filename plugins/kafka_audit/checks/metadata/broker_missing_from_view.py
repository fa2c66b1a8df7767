"""KA105."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredBroker, RegisteredEndpoint, ViewBroker


@sql_check(
    code="KA105",
    severity=Severity.HIGH,
    needs=(RegisteredBroker, RegisteredEndpoint, BrokerView, ViewBroker),
    says={
        Status.FAIL: "{whom}: {lacks}",
        Status.PASS: "Broker {broker} lists every {known} ({listeners})",
        Status.UNKNOWN: "Not known: whether {who} lists every registered broker ({error})",
        Status.NOT_APPLICABLE: "Nothing to compare views with: {reason}",
    },
)
def broker_missing_from_view() -> str:
    """A broker does not list a broker that ZooKeeper has registered, or lists none at all.

    ## Why it matters
    An empty list means that no client can bootstrap here: a time-out without a cause (`kcat -L`, every AdminClient tool). A list
    that misses one broker sends nobody there. ZooKeeper, and every tool that asks only ZooKeeper or another broker, sees nothing.

    ## Fails when
    A registered broker that has the listener on which this one was asked is missing from its answer to Metadata in two looks, or
    the answer lists no broker, and the registrations did not change in between. CRITICAL where the list is empty.

    In KRaft mode: a broker of the newest view (see KA107) is missing, or this broker answers and the newest view does not list
    it: then it is fenced, which is its own finding and nobody else's.

    ## Not known when
    The broker gave no view, ZooKeeper was not read (KRaft: no other broker gave a view, or nothing shows which view is the
    newer), or the difference was seen once or moved (a broker has just started).

    ## Passes only when
    The broker answered, and on every listener asked it lists all brokers that are registered with that listener (KRaft: all of
    the newest view).

    ## What to do
    The controller tells brokers who is alive. Where a list is empty it never could: see KA302 (cannot reach the address that
    broker {broker} advertises), KA401 (has no right there), KA412 (cannot log in), and read `controller.log` on the controller's
    host. Do not trust `kafka-topics.sh --zookeeper` (up to Kafka 2.8): it never asks a broker.

    In KRaft mode a fenced broker sends the controllers no heartbeats: `grep -iE 'heartbeat|registration|fenced' server.log |
    tail` on broker {broker}, and `nc -vz <controller> 9093` from its host.

    ## References
    UpdateMetadata (API 6) in ZooKeeper mode; `kafka.controller.ControllerBrokerRequestBatch`. KIP-631 (fenced brokers).
    """
    return """
        WITH worded AS (
            SELECT *, if(empty, 'any', concat('broker ', subjects)) AS missing,
                   if(holders LIKE 'brokers %', ' list', ' lists') AS list
            FROM observer_matter WHERE matter = 'broker')
        SELECT snapshot_id, 'KA105' AS code, resource, coalesce(status, if(error IS NULL, 'PASS', 'UNKNOWN')) AS status,
               if(empty, 'CRITICAL', NULL) AS severity, 'measured' AS confidence,
               map('who', who, 'broker', name, 'error', coalesce(doubt, error), 'needs', coalesce(doubt_needs, needs),
                   'count', string(if(empty, brokers, n)), 'total', string(brokers), 'missing',
                   missing, 'empty', string(coalesce(empty, false)), 'listeners', on_listeners, 'holders', holders,
                   'whom', if(unlisted, concat('Clients miss broker ', name), concat('Clients of broker ', name,
                       ' miss brokers')),
                   'lacks', CASE WHEN unlisted THEN concat(holders, ' do', if(list = ' list', '', 'es'),
                                     ' not list it although it answers, so the controller has fenced it')
                                 WHEN holders IS NULL THEN concat('it does not list ', missing, ' of the ', brokers,
                                     ' that ZooKeeper has registered')
                                 ELSE concat('it does not list ', missing, ' of the ', brokers, ' that ', holders, list) END,
                   'known', if(holders IS NULL, 'registered broker that has the listener it was asked on',
                       'broker of the newest view')) AS evidence
        FROM worded
    """
