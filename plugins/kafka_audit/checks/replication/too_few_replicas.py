"""KA605."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA605",
    severity=Severity.HIGH,
    parts=("topics",),
    says={
        Status.FAIL: "{partition} requires all of its replicas: {factor} replicas, min.insync.replicas {min_isr}; if one "
        "broker stops, writes with acks=all fail",
        Status.PASS: "All {total} partitions have more replicas than min.insync.replicas, or a single one",
        Status.UNKNOWN: "Cannot determine whether partitions require all of their replicas ({error})",
        Status.NOT_APPLICABLE: "Replica counts are not compared: {reason}",
    },
)
def too_few_replicas(view: ClusterView) -> Iterator[Judgement]:
    """A partition requires all of its replicas to be in sync.

    ## Why it matters
    Every restart of one of its brokers, including a planned one, stops writes with `acks=all` until the broker is back and has
    caught up.

    ## Fails when
    `min.insync.replicas` of the topic, or otherwise of the leader's broker, is not below the number of replicas, and there are
    two or more. A partition with one replica is KA606; one with too few replicas in sync is KA602. A topic cannot have more
    replicas than brokers; missing brokers are KA113.

    ## Not known when
    Topics, topic configurations or the brokers' defaults were not read.

    ## Passes only when
    All of these were read, and every partition has at least one replica more than required, or a single one.

    ## What to do
    Add a replica to the topic: reassign it to its current replicas ({replicas}) and one other broker:
    `kafka-reassign-partitions.sh --bootstrap-server BROKER:9092 --reassignment-json-file plan.json --execute --throttle
    BYTES_PER_SECOND`, then the same with `--verify` instead of `--execute --throttle …`, which removes the throttle. Or,
    immediately and with less safety, lower `min.insync.replicas` of the topic below {factor}: `kafka-configs.sh
    --bootstrap-server BROKER:9092 --alter --entity-type topics --entity-name TOPIC --add-config
    min.insync.replicas=FEWER`.

    ## References
    Kafka documentation, "Availability and Durability Guarantees".
    """
    yield from judge_partitions(view, "KA605", "too_few_replicas", momentary=False, min_isr=True)
