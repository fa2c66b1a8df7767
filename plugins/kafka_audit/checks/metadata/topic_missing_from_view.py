"""KA107."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredPartition, RegisteredTopic, ViewPartition, ViewTopic


@sql_check(
    code="KA107",
    severity=Severity.HIGH,
    needs=(RegisteredTopic, RegisteredPartition, BrokerView, ViewTopic, ViewPartition),
    says={
        Status.FAIL: "Clients of broker {broker} miss topics: it does not list {count} of {total} partitions as {holds} "
        "them ({partitions})",
        Status.PASS: "Broker {broker} lists all {total} partitions with the replicas {held}",
        Status.UNKNOWN: "Not known: whether {who} lists every topic ({error})",
        Status.NOT_APPLICABLE: "Nothing to compare views with: {reason}",
    },
)
def topic_missing_from_view() -> str:
    """A topic, partition or replica set that ZooKeeper holds is absent or different in a broker's view.

    ## Why it matters
    Clients of this broker get UNKNOWN_TOPIC_OR_PARTITION for a topic that exists, and with auto-creation on may ask for it to be
    created again. A topic that was "created" and serves nobody is how a cut-off broker is noticed first.

    ## Fails when
    A topic or partition is missing from the broker's answer to Metadata, or has other replicas there, in two looks, with the
    znode unchanged in between. An empty view misses them all. Topics in deletion are left out. In KRaft mode views are compared
    with the newest one: by leader epochs, and where these tell nothing by what most brokers hold. A topic of another id is
    absent.

    ## Not known when
    The broker gave no view, ZooKeeper was not read, the difference was seen once or moved, or a topic is in no view at all where
    there is an authorizer (or where that could not be asked): Metadata silently leaves out what the auditor may not describe. In
    KRaft mode: no other broker gave a view, or nothing shows which of two views is the newer.

    ## Passes only when
    The broker answered, and lists every partition with the replicas of ZooKeeper or, in KRaft mode, of the newest view.

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
        WITH told AS (
            -- In KRaft the auditor's rights may hide every topic in every view; an empty view of many is a difference.
            SELECT *, if(holders IS NOT NULL AND partitions = 0, topics_error, error) AS blind,
                   if(holders IS NOT NULL AND partitions = 0, topics_needs, needs) AS blind_needs
            FROM observer_matter WHERE matter = 'assignment')
        SELECT snapshot_id, 'KA107' AS code, resource, coalesce(status, if(blind IS NULL, 'PASS', 'UNKNOWN')) AS status,
               CAST(NULL AS STRING) AS severity, 'measured' AS confidence,
               map('who', who, 'broker', name, 'error', coalesce(doubt, blind), 'needs', coalesce(doubt_needs, blind_needs),
                   'count', string(n), 'total', string(partitions), 'partitions', which,
                   if(holders IS NULL, 'zookeeper', 'newest_view'), zookeeper, 'said', said, 'listeners', on_listeners,
                   'holders', holders, 'holds', if(holders IS NULL, 'ZooKeeper holds',
                       concat(holders, if(holders LIKE 'brokers %', ' list', ' lists'))),
                   'held', if(holders IS NULL, 'that ZooKeeper holds', 'of the newest view')) AS evidence
        FROM told
    """
