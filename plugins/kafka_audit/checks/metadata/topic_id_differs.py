"""KA109."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import TopicIdDifference
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredTopic, Registry


@check(
    code="KA109",
    severity=Severity.CRITICAL,
    needs=(Registry, RegisteredTopic, BrokerView),
    parts=("controller", "topics"),
    says={
        Status.FAIL: "{count} topics have another id at brokers than in ZooKeeper ({topics}): {first}",
        Status.PASS: "Every topic id that a broker shows is the one in ZooKeeper ({compared} topics)",
        Status.UNKNOWN: "Cannot determine whether topics have the same id in ZooKeeper and at brokers ({error})",
        Status.NOT_APPLICABLE: "No topic ids to compare: {reason}",
    },
)
def topic_id_differs(view: ClusterView) -> Iterator[Judgement]:
    """A topic's id in ZooKeeper is missing, or another than its brokers know.

    ## Why it matters
    Brokers write the id beside the data. With another one they refuse to lead and to follow the partition
    (INCONSISTENT_TOPIC_ID); where it is missing, the next controller makes up a new one, and the same happens at the next
    restart.

    ## Fails when
    Brokers show an id for a topic, and `/brokers/topics/T` has another one: CRITICAL. HIGH where the znode has none: a tool from
    before Kafka 2.8 has written it anew. In two samples, the znode unchanged in between.

    ## Not known when
    No broker gave a view, topics were not read, or the difference was seen once. It does not apply where no broker shows ids,
    that is before Kafka 2.8, and in KRaft, where ids are in no second place.

    ## Passes only when
    Ids were shown, and each is the one in ZooKeeper.

    ## What to do
    Restart no broker and move no controller now. Stop whatever wrote the znode: `kafka-topics.sh --zookeeper` or
    `kafka-reassign-partitions.sh --zookeeper` of an old version. Then put the id that brokers show back into the znode of each
    topic ({topics}), which is beside the data in `partition.metadata` as well; keep a copy of the znode first.

    ## References
    KIP-516 (topic ids); KAFKA-14190.
    """
    found = next(iter(view.differences.of(TopicIdDifference)), None)
    if not any(observer.answered for observer in view.observers):
        error, needs = "no broker gave a view", "an answer from a broker to Metadata"
        yield view.judge("KA109", "cluster", Status.UNKNOWN, error=error, needs=needs)
    elif found is None:
        reason = "no broker shows topic ids, as before Kafka 2.8"
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
            first=f"{found.first[0]} is {found.view_id} at brokers and {found.reference_id or 'without id'} in ZooKeeper",
        )
    elif found.unrepeated:
        error = f"{found.unrepeated} topics differed in one sample"
        yield view.judge("KA109", "cluster", Status.UNKNOWN, error=error, needs="another audit", compared=found.compared)
    else:
        yield view.judge("KA109", "cluster", Status.PASS, compared=found.compared)
