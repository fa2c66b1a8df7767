from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.replication.partitions import judge_partitions


@check(code="KA602", severity=Severity.CRITICAL, parts=("topics",))
def under_min_isr(view: ClusterView) -> Judgements:
    """A partition has fewer replicas in sync than min.insync.replicas."""
    yield from judge_partitions(view, "under_min_isr", min_isr=True)
