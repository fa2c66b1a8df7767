"""KA602."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA602",
    severity=Severity.CRITICAL,
    parts=("topics",),
    says={
        Status.FAIL: "{partition} rejects writes with acks=all: {in_sync} of {factor} replicas in sync (ISR {isr}), {min_isr} "
        "required",
        Status.PASS: "All {total} partitions with a leader have at least min.insync.replicas replicas in sync",
        Status.UNKNOWN: "Cannot determine whether partitions have too few replicas in sync ({error})",
        Status.NOT_APPLICABLE: "In-sync replicas are not compared: {reason}",
    },
)
def under_min_isr(view: ClusterView) -> Iterator[Judgement]:
    """A partition has fewer replicas in sync than min.insync.replicas.

    ## Why it matters
    Producers with `acks=all`, the default since Kafka 3.0, get NOT_ENOUGH_REPLICAS and stop. If the topic is internal, offset
    commits and transactions fail too. Consumers continue to read.

    ## Fails when
    The partition has a leader, and its ISR is smaller than `min.insync.replicas` of the topic, or otherwise of the leader's
    broker, in two samples, unchanged in between. Since Kafka 3.7 the required number is at most the number of replicas.

    ## Not known when
    Topics, topic configurations or the brokers' defaults were not read, or the ISR changed between two samples.

    ## Passes only when
    All of these were read, and every partition with a leader has enough replicas in sync. KA601 reports partitions without a
    leader.

    ## What to do
    Bring the missing replicas back: {missing}. Check that their brokers are up (KA113), that their disks work (KA501), and that
    they reach leader {leader} (KA302). To see when it is repaired, run `kafka-topics.sh --bootstrap-server BROKER:9092
    --describe --under-min-isr-partitions`.

    If {factor} replicas can never reach {min_isr} in sync, add replicas or lower `min.insync.replicas` of the topic. Lowering
    it during an outage lets producers continue, but gives up the protection that it was set for.

    ## References
    KIP-966 and `kafka.cluster.Partition.effectiveMinIsr` (3.7 and later); metric `UnderMinIsrPartitionCount`.
    """
    yield from judge_partitions(view, "KA602", "under_min_isr", min_isr=True)
