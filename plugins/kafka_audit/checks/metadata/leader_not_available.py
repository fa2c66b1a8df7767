"""KA102."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import holders, judgement, partition_evidence
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredBroker, RegisteredPartition, RegisteredTopic, ViewPartition


@check(
    code="KA102",
    severity=Severity.CRITICAL,
    needs=(RegisteredBroker, RegisteredTopic, RegisteredPartition, BrokerView, ViewPartition),
    parts=("brokers", "topics"),
    says={
        Status.FAIL: "Clients of broker {broker} find no leader for {count} of {total} partitions ({partitions}): it answers "
        "error 5 LEADER_NOT_AVAILABLE although {right} (first: {first})",
        Status.PASS: "Broker {broker} knows a leader wherever {held}, for {listed} of {total} partitions, which is all that it "
        "lists",
        Status.UNKNOWN: "Cannot determine whether {who} misses leaders ({error})",
        Status.NOT_APPLICABLE: "Nothing to compare views with: {reason}",
    },
)
def leader_not_available(view: ClusterView) -> Iterator[Judgement]:
    """A broker knows no leader for a partition whose leader is registered.

    ## Why it matters
    Clients that ask this broker wait and retry until their time-out, `LEADER_NOT_AVAILABLE` in every warning, while the same
    client with another bootstrap address works.

    ## Fails when
    A broker answers error 5 for a partition, in two samples, while ZooKeeper holds a leader for it that is registered. Below
    Metadata v6 a leader without the asked listener looks the same; where the registration shows that, it is KA103. In KRaft mode:
    while the newest view has a leader that it lists.

    ## Not known when
    The broker gave no view, its view is empty (KA107), ZooKeeper was not read (KRaft: no other broker gave a view), or the
    difference was seen once or moved. A partition without leader in ZooKeeper is no case of this check: then error 5 is the
    truth.

    ## Passes only when
    The broker answered, and no partition that it lists has error 5 against a registered leader.

    ## What to do
    This broker does not know that the leader lives: the controller's update about it never came here. On the controller's host:
    `grep '(id: {broker} rack.*unsuccessful' controller.log`. For the causes see KA302, KA401 and KA412, for the brokers that it
    misses KA105. In KRaft mode the broker fetches no metadata any more: see KA101.

    ## References
    KIP-226 (errors 5 and 72 are told apart since Metadata v6); `kafka.server.metadata.ZkMetadataCache.getPartitionMetadata`.
    """
    newest = holders(view)
    right, held = "ZooKeeper has a leader that is registered", "ZooKeeper holds a registered one"
    if newest is not None:
        right, held = f"the newest view, held by {newest}, has a leader and lists it", "the newest view has one"
    for observer in view.observers:
        difference = view.disagreement(observer.name, "no_leader")
        yield judgement(
            view,
            "KA102",
            observer,
            difference,
            error=observer.topics_error,
            needs=observer.topics_needs,
            **partition_evidence(view, difference, "newest_epoch"),
            total=observer.partitions,
            listed=observer.listed if observer.answered else None,
            leaders=difference and difference.brokers,
            listeners=observer.listeners or None,
            holders=newest,
            first=difference and difference.reference,
            right=right,
            held=held,
        )
