"""KA109."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import TopicIdDifference
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA109",
    severity=Severity.CRITICAL,
    parts=("controller", "topics"),
    says={
        Status.FAIL: "Topic ids at brokers and in ZooKeeper differ for {count} of {compared} topics ({topics}): {first}",
        Status.PASS: "Every topic id that brokers report equals the id in ZooKeeper ({compared} topics; disks were not read)",
        Status.UNKNOWN: "Cannot determine whether topics have the same id in ZooKeeper and at brokers ({error})",
        Status.NOT_APPLICABLE: "No topic ids to compare: {reason}",
    },
)
def topic_id_differs(view: ClusterView) -> Iterator[Judgement]:
    """A topic's id in ZooKeeper is missing, or differs from the id that its brokers report.

    ## Why it matters
    Brokers store the topic id with the data. If the id differs, they refuse to lead and to follow the partition
    (INCONSISTENT_TOPIC_ID). If the id is missing, the next controller creates a new one, and the same happens at the next
    restart.

    ## Fails when
    Brokers report an id for a topic, and `/brokers/topics/T` has a different one: CRITICAL. HIGH if the znode has no id: a tool
    older than Kafka 2.8 has rewritten it. Two samples show it, and the znode did not change in between.

    ## Not known when
    No broker returned a view, topics were not read, or the difference was seen once. The check does not apply if no broker
    reports ids (before Kafka 2.8), and not in KRaft, where ids have one place only.

    ## Passes only when
    Brokers report ids, and each equals the id in ZooKeeper. That is not the id on disk: if the controller moved after a tool had
    rewritten the znode, ZooKeeper and brokers agree on a new id, and `partition.metadata` still contains the old one. Then
    `grep -h topic_id LOG_DIR/*/partition.metadata` on the brokers' hosts shows it, and INCONSISTENT_TOPIC_ID in server.log.

    ## What to do
    Do not restart a broker and do not move the controller. Stop the tool that wrote the znode: `kafka-topics.sh --zookeeper` or
    `kafka-reassign-partitions.sh --zookeeper` of an old version. Copy the znode of each topic ({topics}), then write the id
    that brokers report back into it. The same id is in `partition.metadata` in the data directory.

    ## References
    KIP-516 (topic ids); KAFKA-14190.
    """
    found = next(iter(view.differences.of(TopicIdDifference)), None)
    if not any(observer.answered for observer in view.observers):
        error, needs = "no broker returned a view", "an answer from a broker to Metadata"
        yield view.judge("KA109", "cluster", Status.UNKNOWN, error=error, needs=needs)
    elif found is None:
        reason = "no broker reports topic ids (before Kafka 2.8)"
        yield view.judge("KA109", "cluster", Status.NOT_APPLICABLE, reason=reason)
    elif found.differing:
        yield view.judge(
            "KA109",
            "cluster",
            Status.FAIL,
            severity=None if found.other_id else Severity.HIGH,
            count=found.differing,
            compared=found.compared,
            topics=found.first,
            first=f"{found.first[0]} is {found.view_id} at brokers and {found.reference_id or 'without an id'} in ZooKeeper",
        )
    elif found.unrepeated:
        error = f"{found.unrepeated} topics differed in one sample"
        yield view.judge("KA109", "cluster", Status.UNKNOWN, error=error, needs="another audit", compared=found.compared)
    else:
        yield view.judge("KA109", "cluster", Status.PASS, compared=found.compared)
