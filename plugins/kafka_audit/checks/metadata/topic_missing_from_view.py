"""KA107."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import holders, judgement, list_of, partition_evidence, view_effects
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA107",
    severity=Severity.HIGH,
    parts=("topics",),
    says={
        Status.FAIL: "Clients of broker {broker} do not see all topics; it does not list {count} of {total} partitions as "
        "{holds} them ({partitions})",
        Status.PASS: "Broker {broker} lists all {total} partitions with the replicas {held}",
        Status.UNKNOWN: "Cannot determine whether {who} lists every topic ({error})",
        Status.NOT_APPLICABLE: "Nothing to compare views with: {reason}",
    },
)
def topic_missing_from_view(view: ClusterView) -> Iterator[Judgement]:
    """A topic, partition or replica set in ZooKeeper is missing or different in a broker's view.

    ## Why it matters
    Clients of this broker get UNKNOWN_TOPIC_OR_PARTITION for a topic that exists. Auto-creation fails too, because the topic
    exists. A topic that was created but that clients cannot use is often the first sign of a broker that the controller cannot
    update.

    ## Fails when
    A topic or partition is missing from the broker's Metadata response, or has other replicas there, in two samples, and the
    znode did not change in between. An empty view lacks all of them. Topics in deletion are not compared. In KRaft mode views
    are compared with the newest view. The newest view is found by leader epochs or, if these are equal, by the majority of
    brokers. A topic with another id counts as missing.

    ## Not known when
    The broker returned no view, ZooKeeper was not read, or the difference was seen once or changed. Or a topic is in no view
    and the cluster has an authorizer, or the authorizer could not be read: Metadata silently omits topics that the auditor may
    not describe. In KRaft mode: no other broker returned a view, or the views do not show which is newer.

    ## Passes only when
    The broker answered, and lists every partition with the replicas in ZooKeeper or, in KRaft mode, of the newest view.

    ## What to do
    If the whole view is empty, repair KA105 and its cause first. If single topics are missing, check for a deletion in progress
    (`zookeeper-shell.sh ZOOKEEPER:2181 ls /admin/delete_topics`), then for failed updates on the controller's host: `grep
    '(id: {broker} rack.*unsuccessful' controller.log`.

    If the auditor may not describe topics, run `kafka-acls.sh --bootstrap-server BROKER:9092 --add --allow-principal
    User:AUDITOR --operation Describe --topic '*'`.

    ## References
    UpdateMetadata (API 6); Metadata (API 3) and the right Describe on Topic.
    """
    newest = holders(view)
    for observer, effect in view_effects(view, "assignment"):
        difference = effect.difference
        yield judgement(
            view,
            "KA107",
            observer,
            effect,
            **partition_evidence(view, difference, "newest_view"),
            total=observer.partitions,
            listeners=(observer.listeners if difference is None else difference.listeners) or None,
            holders=newest,
            holds="ZooKeeper has" if newest is None else f"{newest} {list_of(view)}",
            held="in ZooKeeper" if newest is None else "of the newest view",
        )
