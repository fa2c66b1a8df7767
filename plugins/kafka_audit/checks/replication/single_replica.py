from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.replication.partitions import judge_partitions


@check(code="KA606", severity=Severity.MEDIUM, parts=("topics",))
def single_replica(view: ClusterView) -> Judgements:
    """A partition has one replica."""
    if len(view.known_brokers) == 1:
        yield view.not_applicable("cluster", "the cluster has a single broker (KA612)")
    else:
        yield from judge_partitions(view, "single_replica", momentary=False)
