from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.replication.partitions import judge_partitions


@check(code="KA606", severity=Severity.MEDIUM, parts=("topics",))
def single_replica(view: ClusterView) -> Judgements:
    """A partition has one replica."""
    if len(view.known_brokers) == 1:
        reason = "the cluster has a single broker (KA612)"
        yield view.judge("cluster", Status.NOT_APPLICABLE, reason=reason)
    else:
        yield from judge_partitions(view, "single_replica", momentary=False)
