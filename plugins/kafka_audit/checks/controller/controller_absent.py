"""KA201."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import Registry


@sql_check(
    code="KA201",
    severity=Severity.CRITICAL,
    needs=(Registry,),
    says={
        Status.FAIL: "The cluster has no controller: /controller is absent (controller epoch {epoch}), so no leader is elected",
        Status.PASS: "Broker {controller} is the controller (epoch {epoch})",
        Status.UNKNOWN: "Not known: whether the cluster has a controller ({error})",
        Status.NOT_APPLICABLE: "No /controller to look at: {reason}",
    },
)
def controller_absent() -> str:
    """No broker is the controller.

    ## Why it matters
    Nothing is elected, nothing told: a broker that stops now takes its partitions offline for good, topics are created in
    ZooKeeper only, and brokers that start stay empty.

    ## Fails when
    `/controller` is absent in two looks, with the list of brokers unchanged in between. A failover takes less.

    ## Not known when
    ZooKeeper or `/controller` could not be read, or the absence was seen once.

    ## Passes only when
    `/controller` names a broker.

    ## What to do
    Every live broker tries to become the controller at once, so one that is absent for long means that none can write:
    `grep -E 'Session expired|NoAuth' server.log controller.log` on each broker, then ZooKeeper's disk and quorum:
    `echo srvr | nc <zookeeper> 2181`.

    ## References
    How brokers compete for the znode: `kafka.controller.KafkaController.elect`.
    """
    return """
        SELECT snapshot_id, 'KA201' AS code, 'cluster' AS resource,
               CASE WHEN controller_id IS NOT NULL THEN 'PASS' WHEN steady AND before_controller_id IS NULL THEN 'FAIL'
                    ELSE 'UNKNOWN' END AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('controller', string(controller_id), 'epoch', coalesce(string(controller_epoch), 'not known'),
                   'error', 'in motion: absent in one look', 'needs', 'another audit') AS evidence
        FROM judged
    """
