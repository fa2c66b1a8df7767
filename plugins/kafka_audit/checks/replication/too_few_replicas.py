"""KA605."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, RegisteredPartition, RegisteredTopic, TopicConfig


@check(
    code="KA605",
    severity=Severity.HIGH,
    needs=(RegisteredTopic, RegisteredPartition, TopicConfig, BrokerConfig),
    parts=("topics",),
    says={
        Status.FAIL: "{partition} needs all of its replicas: {factor} replicas, {min_isr} needed in sync, so the next broker that"
        " stops ends writes with acks=all",
        Status.PASS: "All of {total} partitions have more replicas than min.insync.replicas asks for, or a single one",
        Status.UNKNOWN: "Cannot determine whether partitions need all of their replicas ({error})",
        Status.NOT_APPLICABLE: "Numbers of replicas are not compared: {reason}",
    },
)
def too_few_replicas(view: ClusterView) -> Iterator[Judgement]:
    """A partition has no more replicas than must be in sync.

    ## Why it matters
    Every restart of one of its brokers, also a planned one, ends writes with `acks=all` until the broker is back and has caught
    up.

    ## Fails when
    `min.insync.replicas` of the topic, or else of the leader's broker, is not below the number of replicas, and there are two or
    more. With one replica it is KA606, and where too few are in sync already KA602. More replicas than brokers cannot be created;
    where brokers went, it is KA113.

    ## Not known when
    Topics, what topics set for themselves, or the brokers' default were not read.

    ## Passes only when
    All of that was read, and every partition has a replica more than it needs, or a single one.

    ## What to do
    Give the topic a replica more, as a reassignment to its present replicas ({replicas}) and one other broker:
    `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092 --reassignment-json-file plan.json --execute`. Or, at once and
    with less safety, lower `min.insync.replicas` of the topic below {factor}:
    `kafka-configs.sh --bootstrap-server <broker>:9092 --alter --topic <topic> --add-config min.insync.replicas=<fewer>`.

    ## References
    Kafka documentation, "Availability and Durability Guarantees".
    """
    yield from judge_partitions(view, "KA605", "too_few_replicas", momentary=False, min_isr=True)
