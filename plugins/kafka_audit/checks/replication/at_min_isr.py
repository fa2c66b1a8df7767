"""KA603."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA603",
    severity=Severity.MEDIUM,
    parts=("topics",),
    says={
        Status.FAIL: "{partition} has {in_sync} of {factor} replicas in sync (ISR {isr}), and {min_isr} are required; if it "
        "loses another, writes with acks=all fail",
        Status.PASS: "None of {total} partitions has lost replicas down to min.insync.replicas",
        Status.UNKNOWN: "Cannot determine whether partitions have only min.insync.replicas replicas in sync ({error})",
        Status.NOT_APPLICABLE: "In-sync replicas are not compared: {reason}",
    },
)
def at_min_isr(view: ClusterView) -> Iterator[Judgement]:
    """A partition has lost replicas down to min.insync.replicas.

    ## Why it matters
    No write fails yet. If another broker stops, writes with `acks=all` to this partition fail. Every rolling restart causes
    this temporarily; it is a fault if it lasts.

    ## Fails when
    The ISR has `min.insync.replicas` members and fewer than the number of replicas, in two samples, unchanged in between. If
    all replicas are in sync and all are required, the finding is KA605.

    ## Not known when
    Topics, topic configurations or the brokers' defaults were not read, or the ISR changed between two samples.

    ## Passes only when
    All of these were read, and every partition has more in-sync replicas than required, or all its replicas are in sync.

    ## What to do
    Do not restart another broker before the missing replicas are back: {missing}. If their brokers are up, see KA604 for the
    reasons why they do not catch up.

    ## References
    KIP-427 (metric `AtMinIsr`, `kafka-topics.sh --describe --at-min-isr-partitions`).
    """
    yield from judge_partitions(view, "KA603", "at_min_isr", min_isr=True)
