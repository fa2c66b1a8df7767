"""KA609."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import NO_TOPIC
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import InternalTopic
from kafka_audit.model.finding import Judgement, Severity, Status

_ENOUGH = 3
_CONSEQUENCE = {
    "__consumer_offsets": "consumer groups stop",
    "__transaction_state": "transactions stop",
    "__remote_log_metadata": "no segment is copied to or read from the remote storage",
}


@check(
    code="KA609",
    severity=Severity.HIGH,
    parts=("topics",),
    says={
        Status.FAIL: "{topic} has {factor}; {enough} brokers are available. If {loss}, {consequence}",
        Status.PASS: "Every internal topic that exists ({topics}) has {enough} replicas",
        Status.UNKNOWN: "Cannot determine whether internal topics have enough replicas ({error})",
        Status.NOT_APPLICABLE: "More replicas are not possible: {reason}",
    },
)
def internal_topic_weak(view: ClusterView) -> Iterator[Judgement]:
    """An internal topic has too few replicas.

    ## Why it matters
    All consumer groups depend on `__consumer_offsets`, and all transactions on `__transaction_state`. If they have one replica,
    a single broker that stops interrupts every group or transaction of its partitions, even if the data itself is replicated.
    With tiered storage, `__remote_log_metadata` is the only index of the segments in the remote storage: if it is lost, brokers
    no longer find them.

    ## Fails when
    A partition of the topic has one replica, and the cluster has several brokers. MEDIUM if it has two replicas and there are
    three brokers or more. Such topics were created when the cluster had fewer brokers, or with quick start settings. If all
    replicas are required in sync, the finding is KA605.

    ## Not known when
    Topics were not read. The check does not apply to a cluster of one broker.

    ## Passes only when
    Every internal topic that exists has three replicas, or one on each broker.

    ## What to do
    Reassign every partition of {topic} to three brokers: `kafka-reassign-partitions.sh --bootstrap-server BROKER:9092
    --reassignment-json-file plan.json --execute --throttle BYTES_PER_SECOND`, then the same with `--verify` instead of
    `--execute --throttle …`, which removes the throttle. The settings `offsets.topic.replication.factor`,
    `transaction.state.log.replication.factor` and `rlmm.config.remote.log.metadata.topic.replication.factor` apply to new
    topics only.

    ## References
    Kafka documentation, "Broker Configs"; KIP-115; KIP-405 (tiered storage).
    """
    brokers = len(view.known_brokers)
    if brokers == 1:
        yield view.judge("KA609", "cluster", Status.NOT_APPLICABLE, reason="the cluster has one broker")
        return
    enough, topics = min(brokers, _ENOUGH), view.differences.of(InternalTopic)
    weak = [row for row in topics if row.factor < enough]
    for row in weak:
        single = row.factor == 1
        yield view.judge(
            "KA609",
            f"topic/{row.topic}",
            Status.FAIL,
            severity=None if single else Severity.MEDIUM,
            topic=row.topic,
            factor="a single replica" if single else f"{row.factor} replicas",
            enough=enough,
            loss="that broker stops" if single else "two brokers stop",
            consequence=_CONSEQUENCE.get(row.topic, "share groups stop"),
        )
    if weak:
        return
    if view.kraft and not view.partitions.count.partitions:
        yield view.judge("KA609", "cluster", Status.UNKNOWN, NO_TOPIC)
    else:
        names = tuple(sorted(row.topic for row in topics)) or "none"
        yield view.judge("KA609", "cluster", Status.PASS, topics=names, enough=enough)
