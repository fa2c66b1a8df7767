"""KA603."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, RegisteredPartition, RegisteredTopic, TopicConfig


@check(
    code="KA603",
    severity=Severity.MEDIUM,
    needs=(RegisteredTopic, RegisteredPartition, TopicConfig, BrokerConfig),
    parts=("topics",),
    says={
        Status.FAIL: "{partition} has just enough replicas in sync: {in_sync} of {factor} (ISR {isr}), {min_isr} needed; one"
        " less,"
        " and writes with acks=all stop",
        Status.PASS: "None of {total} partitions has lost replicas down to min.insync.replicas",
        Status.UNKNOWN: "Cannot determine whether partitions have just enough replicas in sync ({error})",
        Status.NOT_APPLICABLE: "Replicas in sync are not compared: {reason}",
    },
)
def at_min_isr(view: ClusterView) -> Iterator[Judgement]:
    """A partition has lost replicas down to min.insync.replicas.

    ## Why it matters
    Nothing fails yet. The next broker that stops ends writes with `acks=all` to this partition. Every rolling restart shows this
    for a while; it is a fault when it stays.

    ## Fails when
    The ISR is as large as `min.insync.replicas` and smaller than the number of replicas, in two samples, unchanged in between.
    That all replicas are in sync and all are needed is KA605.

    ## Not known when
    Topics, what topics set for themselves, or the brokers' default were not read; or the ISR changed between two samples.

    ## Passes only when
    All of that was read, and every partition has more in sync than it needs, or all that it has.

    ## What to do
    Restart no other broker before the missing replicas are back: {missing}. If their brokers are up, see KA604 for why they do
    not catch up.

    ## References
    KIP-427 (metric `AtMinIsr`, `kafka-topics.sh --describe --at-min-isr-partitions`).
    """
    yield from judge_partitions(view, "KA603", "at_min_isr", min_isr=True)
