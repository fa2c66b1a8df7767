"""KA107."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import holders, judgement, list_of, partition_evidence
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredPartition, RegisteredTopic, ViewPartition, ViewTopic


@check(
    code="KA107",
    severity=Severity.HIGH,
    needs=(RegisteredTopic, RegisteredPartition, BrokerView, ViewTopic, ViewPartition),
    parts=("topics",),
    says={
        Status.FAIL: "Clients of broker {broker} miss topics: it does not list {count} of {total} partitions as {holds} "
        "them ({partitions})",
        Status.PASS: "Broker {broker} lists all {total} partitions with the replicas {held}",
        Status.UNKNOWN: "Cannot determine whether {who} lists every topic ({error})",
        Status.NOT_APPLICABLE: "Nothing to compare views with: {reason}",
    },
)
def topic_missing_from_view(view: ClusterView) -> Iterator[Judgement]:
    """A topic, partition or replica set that ZooKeeper holds is absent or different in a broker's view.

    ## Why it matters
    Clients of this broker get UNKNOWN_TOPIC_OR_PARTITION for a topic that exists, and with auto-creation on may ask for it to be
    created again. A topic that was "created" and serves nobody is how a cut-off broker is noticed first.

    ## Fails when
    A topic or partition is missing from the broker's answer to Metadata, or has other replicas there, in two samples, with the
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
    newest = holders(view)
    for observer in view.observers:
        difference = view.disagreement(observer.name, "assignment")
        error, needs = observer.error, observer.needs
        if view.kraft and not observer.partitions:
            # The auditor's rights may hide every topic in every view; one empty view beside filled ones is a difference.
            error, needs = observer.topics_error, observer.topics_needs
        yield judgement(
            view,
            "KA107",
            observer,
            difference,
            error=error,
            needs=needs,
            **partition_evidence(view, difference, "newest_view"),
            total=observer.partitions,
            listeners=(observer.listeners if difference is None else difference.listeners) or None,
            holders=newest,
            holds="ZooKeeper holds" if newest is None else f"{newest} {list_of(view)}",
            held="that ZooKeeper holds" if newest is None else "of the newest view",
        )
