"""KA602."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity


@check(code="KA602", severity=Severity.CRITICAL, parts=("topics",))
def under_min_isr(view: ClusterView) -> Iterator[Judgement]:
    """A partition has fewer replicas in sync than min.insync.replicas."""
    yield from judge_partitions(view, "under_min_isr", min_isr=True)
