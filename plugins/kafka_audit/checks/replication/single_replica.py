"""KA606."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic


@check(
    code="KA606",
    severity=Severity.MEDIUM,
    needs=(RegisteredTopic, RegisteredPartition),
    parts=("topics",),
    says={
        Status.FAIL: "{partition} has a single replica, on broker {replicas}",
        Status.PASS: "All of {total} partitions have two replicas or more",
        Status.UNKNOWN: "Cannot determine whether partitions have a single replica ({error})",
        Status.NOT_APPLICABLE: "A single replica is no fault of its own here: {reason}",
    },
)
def single_replica(view: ClusterView) -> Iterator[Judgement]:
    """A partition has one replica.

    ## Why it matters
    Every restart of that broker is an outage of the partition, and a dead disk loses what is in it.

    ## Fails when
    The partition is assigned to one broker, though the cluster has more. MEDIUM: many topics are like that on purpose. Kafka's
    own topics are KA609.

    ## Not known when
    Topics were not read. It does not apply to a cluster of one broker, which is KA612.

    ## Passes only when
    Every other partition has two replicas at least.

    ## What to do
    Give it replicas besides broker {replicas}, as a plan of your own:
    `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092 --reassignment-json-file plan.json --execute`. If the loss of
    the topic is accepted, mute it with that reason.

    ## References
    Setting `default.replication.factor`, which is 1 unless set (KA707).
    """
    if len(view.known_brokers) == 1:
        reason = "a single broker carries the cluster (KA612)"
        yield view.judge("KA606", "cluster", Status.NOT_APPLICABLE, reason=reason)
    else:
        yield from judge_partitions(view, "KA606", "single_replica", momentary=False)
