"""KA202."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerView, Registry


@sql_check(
    code="KA202",
    severity=Severity.HIGH,
    needs=(Registry, BrokerView),
    says={
        Status.FAIL: "Broker {broker} names another controller than ZooKeeper: ZooKeeper has {zookeeper}, the broker says {said}",
        Status.PASS: "Broker {broker} names the controller that ZooKeeper holds ({zookeeper})",
        Status.UNKNOWN: "Not known: whether {who} names the right controller ({error})",
        Status.NOT_APPLICABLE: "No controller to compare with: {reason}",
    },
)
def controller_disagreement() -> str:
    """A broker names another controller than ZooKeeper holds, or none.

    ## Why it matters
    Admin requests through this broker (create topic, alter partition) go to a broker that refuses them with NOT_CONTROLLER. `-1`
    means that no controller ever reached this broker.

    ## Fails when
    The controller in a broker's answer to Metadata differs from `/controller` in two looks, with `/controller` unchanged in
    between.

    ## Not known when
    The broker gave no view, ZooKeeper was not read, or the difference was seen once or moved (a failover).

    ## Passes only when
    The broker answered and names ZooKeeper's controller.

    ## What to do
    A broker that says -1 has an empty view: see KA105 and the cause under it. One that names an earlier controller misses
    updates: `grep 'Latest known controller epoch' state-change.log` there. Two brokers that both act as controller: compare
    `/controller_epoch` with `controller.log` of both, and restart the one with the lower epoch.

    ## References
    Metadata v1 and later; `kafka.controller.KafkaController`.
    """
    return """
        SELECT snapshot_id, 'KA202' AS code, resource,
               CASE WHEN right_controller_id IS NULL THEN 'NOT_APPLICABLE'
                    ELSE coalesce(status, if(error IS NULL, 'PASS', 'UNKNOWN')) END AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('who', who, 'broker', name, 'error', coalesce(doubt, error), 'needs', coalesce(doubt_needs, needs),
                   'zookeeper', coalesce(zookeeper, concat('controller ', right_controller_id)), 'said', said,
                   'reason', if(right_controller_id IS NULL, '/controller is absent (KA201)', NULL)) AS evidence
        FROM observer_matter WHERE matter = 'controller'
    """
