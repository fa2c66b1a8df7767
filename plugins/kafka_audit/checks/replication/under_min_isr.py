"""KA602."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, RegisteredPartition, RegisteredTopic, TopicConfig


@check(
    code="KA602",
    severity=Severity.CRITICAL,
    needs=(RegisteredTopic, RegisteredPartition, TopicConfig, BrokerConfig),
    parts=("topics",),
    says={
        Status.FAIL: "{partition} refuses writes with acks=all: {in_sync} of {factor} replicas in sync (ISR {isr}), {min_isr}"
        " needed",
        Status.PASS: "All of {total} partitions with a leader have as many replicas in sync as min.insync.replicas asks for",
        Status.UNKNOWN: "Cannot determine whether partitions have too few replicas in sync ({error})",
        Status.NOT_APPLICABLE: "Replicas in sync are not compared: {reason}",
    },
)
def under_min_isr(view: ClusterView) -> Iterator[Judgement]:
    """A partition has fewer replicas in sync than min.insync.replicas.

    ## Why it matters
    Producers with `acks=all`, the default since Kafka 3.0, get NOT_ENOUGH_REPLICAS and stop. So do commits of offsets, and
    transactions, if it is one of Kafka's own topics. Consumers go on reading.

    ## Fails when
    The partition has a leader, and its ISR is smaller than `min.insync.replicas` of the topic, or else of the leader's broker, in
    two samples, unchanged in between. From Kafka 3.7 on never more are needed than there are replicas.

    ## Not known when
    Topics, what topics set for themselves, or the brokers' default were not read; or the ISR changed between two samples.

    ## Passes only when
    All of that was read, and every partition with a leader has enough. Partitions without one are KA601.

    ## What to do
    Bring the missing replicas back: {missing}. Are those brokers up (KA113), their disks whole (KA501), do they reach the leader
    {leader} (KA302)? `kafka-topics.sh --bootstrap-server <broker>:9092 --describe --under-min-isr-partitions` shows when it is
    over.

    Where {factor} replicas can never be enough for {min_isr} in sync, add replicas, or lower `min.insync.replicas` of the topic.
    To lower it only for the time of an outage keeps producers going, and gives away what it was set for.

    ## References
    KIP-966 and `kafka.cluster.Partition.effectiveMinIsr` (3.7 on); metric `UnderMinIsrPartitionCount`.
    """
    yield from judge_partitions(view, "KA602", "under_min_isr", min_isr=True)
