"""KA105."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredBroker, RegisteredEndpoint, ViewBroker


@sql_check(
    code="KA105",
    severity=Severity.HIGH,
    needs=(RegisteredBroker, RegisteredEndpoint, BrokerView, ViewBroker),
    says={
        Status.FAIL: "Clients of broker {broker} miss brokers: it does not list {missing} of the {total} that ZooKeeper has "
        "registered",
        Status.PASS: "Broker {broker} lists every registered broker that has the listener it was asked on ({listeners})",
        Status.UNKNOWN: "Not known: whether {who} lists every registered broker ({error})",
        Status.NOT_APPLICABLE: "No view to compare with ZooKeeper: {reason}",
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

    ## Not known when
    The broker gave no view, ZooKeeper was not read, or the difference was seen once or moved (a broker has just started).

    ## Passes only when
    The broker answered, and on every listener asked it lists all brokers that are registered with that listener.

    ## What to do
    The controller tells brokers who is alive. Where a list is empty it never could: see KA302 (cannot reach the address that
    broker {broker} advertises), KA401 (has no right there), KA412 (cannot log in), and read `controller.log` on the controller's
    host. Do not trust `kafka-topics.sh --zookeeper` (up to Kafka 2.8): it never asks a broker.

    ## References
    UpdateMetadata (API 6) in ZooKeeper mode; `kafka.controller.ControllerBrokerRequestBatch`.
    """
    return """
        SELECT snapshot_id, 'KA105' AS code, resource, coalesce(status, if(error IS NULL, 'PASS', 'UNKNOWN')) AS status,
               if(empty, 'CRITICAL', NULL) AS severity, 'measured' AS confidence,
               map('who', who, 'broker', name, 'error', coalesce(doubt, error), 'needs', coalesce(doubt_needs, needs),
                   'count', string(if(empty, brokers, n)), 'total', string(brokers), 'missing',
                   if(empty, 'any', concat('broker ', subjects)), 'empty', string(coalesce(empty, false)),
                   'listeners', on_listeners) AS evidence
        FROM observer_matter WHERE matter = 'broker'
    """
