"""KA107."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredPartition, RegisteredTopic, ViewPartition, ViewTopic


@sql_check(
    code="KA107",
    severity=Severity.HIGH,
    needs=(RegisteredTopic, RegisteredPartition, BrokerView, ViewTopic, ViewPartition),
    says={
        Status.FAIL: "Clients of broker {broker} miss topics: it does not list {count} of {total} partitions as ZooKeeper holds "
        "them ({partitions})",
        Status.PASS: "Broker {broker} lists all {total} partitions with the replicas that ZooKeeper holds",
        Status.UNKNOWN: "Not known: whether {who} lists every topic ({error})",
        Status.NOT_APPLICABLE: "No view to compare with ZooKeeper: {reason}",
    },
)
def topic_missing_from_view() -> str:
    """A topic, partition or replica set that ZooKeeper holds is absent or different in a broker's view.

    ## Why it matters
    Clients of this broker get UNKNOWN_TOPIC_OR_PARTITION for a topic that exists, and with auto-creation on may ask for it to be
    created again. A topic that was "created" and serves nobody is how a cut-off broker is noticed first.

    ## Fails when
    A topic or partition is missing from the broker's answer to Metadata, or has other replicas there, in two looks, with the
    znode unchanged in between. An empty view misses them all. Topics in deletion are left out.

    ## Not known when
    The broker gave no view, ZooKeeper was not read, the difference was seen once or moved, or a topic is in no view at all where
    there is an authorizer (or where that could not be asked): Metadata silently leaves out what the auditor may not describe.

    ## Passes only when
    The broker answered, and lists every partition with ZooKeeper's replicas.

    ## What to do
    Where the whole view is empty, KA105 and the cause under it come first. Where single topics are missing, look for a deletion
    under way (`zookeeper-shell.sh <zookeeper.connect> ls /admin/delete_topics`), then on the controller's host for refused
    updates: `grep '(id: {broker} rack.*unsuccessful' controller.log`.

    If the auditor may not describe topics:
    `kafka-acls.sh --bootstrap-server <broker>:9092 --add --allow-principal User:<auditor> --operation Describe --topic '*'`.

    ## References
    UpdateMetadata (API 6); Metadata (API 3) and the right Describe on Topic.
    """
    return """
        SELECT snapshot_id, 'KA107' AS code, resource, coalesce(status, if(error IS NULL, 'PASS', 'UNKNOWN')) AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('who', who, 'broker', name, 'error', coalesce(doubt, error), 'needs', coalesce(doubt_needs, needs),
                   'count', string(n), 'total', string(partitions), 'partitions', which, 'zookeeper', zookeeper,
                   'said', said, 'listeners', on_listeners) AS evidence
        FROM observer_matter WHERE matter = 'assignment'
    """
