"""KA606."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA606",
    severity=Severity.MEDIUM,
    parts=("topics",),
    says={
        Status.FAIL: "{partition} has a single replica, on broker {replicas}",
        Status.PASS: "All {total} partitions have two replicas or more",
        Status.UNKNOWN: "Cannot determine whether partitions have a single replica ({error})",
        Status.NOT_APPLICABLE: "A single replica is not reported here: {reason}",
    },
)
def single_replica(view: ClusterView) -> Iterator[Judgement]:
    """A partition has one replica.

    ## Why it matters
    Every restart of that broker is an outage of the partition, and a failed disk loses its data.

    ## Fails when
    The partition is assigned to one broker, although the cluster has more. MEDIUM: many topics have one replica on purpose.
    KA609 reports internal topics.

    ## Not known when
    Topics were not read. The check does not apply to a cluster of one broker (KA612).

    ## Passes only when
    Every other partition has at least two replicas.

    ## What to do
    Write a plan that adds replicas besides broker {replicas}, and execute it: `kafka-reassign-partitions.sh --bootstrap-server
    BROKER:9092 --reassignment-json-file plan.json --execute --throttle BYTES_PER_SECOND`. Run the same with `--verify`
    instead of `--execute --throttle …` until it ends; that removes the throttle. If you accept the loss of the topic, mute the
    finding with that reason.

    ## References
    Setting `default.replication.factor`, with default 1 (KA707).
    """
    if len(view.known_brokers) == 1:
        reason = "the cluster has a single broker (KA612)"
        yield view.judge("KA606", "cluster", Status.NOT_APPLICABLE, reason=reason)
    else:
        yield from judge_partitions(view, "KA606", "single_replica", momentary=False)
