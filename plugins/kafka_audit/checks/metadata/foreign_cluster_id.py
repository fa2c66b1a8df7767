"""KA110."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerView, Registry


@sql_check(
    code="KA110",
    severity=Severity.CRITICAL,
    needs=(Registry, BrokerView),
    says={
        Status.FAIL: "Clients of broker {broker} are on another cluster: it says cluster id {said}, and {zookeeper} is the one "
        "audited",
        Status.PASS: "Broker {broker} says the audited cluster's id ({zookeeper})",
        Status.UNKNOWN: "Not known: whether {who} belongs to this cluster ({error})",
        Status.NOT_APPLICABLE: "No cluster id to compare with: {reason}",
    },
)
def foreign_cluster_id() -> str:
    """A broker belongs to another cluster than the one audited.

    ## Why it matters
    Records go to, and come from, the wrong cluster: an address was given to somebody else, a forward leads elsewhere, or the
    broker was started with another `zookeeper.connect` or a wrong chroot.

    ## Fails when
    The cluster id in a broker's answer to Metadata differs from `/cluster/id`, or from `expect.cluster_id` of the cluster file,
    in two looks. What else that broker says is not compared with this cluster.

    ## Not known when
    The broker gave no view or no cluster id, ZooKeeper was not read, or the difference was seen once.

    ## Passes only when
    The broker answered with the id of `/cluster/id`, and with the expected one where the cluster file names it.

    ## What to do
    Ask the host behind the address: `kafka-cluster.sh cluster-id --bootstrap-server <its address>` (Kafka 2.8 and later), or
    `cat <log.dirs>/meta.properties` there. Correct the forward, the
    name or `zookeeper.connect`. If all brokers differ from `expect.cluster_id`, the expectation or the ZooKeeper address is
    wrong.

    ## References
    KIP-78 (cluster id); `InconsistentClusterIdException` at the start of a broker whose `meta.properties` names another one.
    """
    return """
        SELECT snapshot_id, 'KA110' AS code, resource,
               CASE WHEN told AND status IS NOT NULL THEN status WHEN told AND right_cluster_id IS NOT NULL THEN 'PASS'
                    ELSE 'UNKNOWN' END AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('who', who, 'broker', name,
                   'error', CASE WHEN status IS NOT NULL THEN doubt WHEN told THEN 'there is no /cluster/id' ELSE error END,
                   'needs', CASE WHEN status IS NOT NULL THEN doubt_needs WHEN told THEN 'expect.cluster_id in the cluster file'
                            ELSE needs END,
                   'zookeeper', coalesce(zookeeper, right_cluster_id), 'said', coalesce(said, kafka_cluster_id)) AS evidence
        FROM observer_matter WHERE matter = 'cluster'
    """
