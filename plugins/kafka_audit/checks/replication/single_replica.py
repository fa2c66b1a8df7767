"""KA606."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(code="KA606", severity=Severity.MEDIUM, parts=("topics",))
def single_replica(view: ClusterView) -> Iterator[Judgement]:
    """A partition has one replica."""
    if len(view.known_brokers) == 1:
        reason = "the cluster has a single broker (KA612)"
        yield view.judge("cluster", Status.NOT_APPLICABLE, reason=reason)
    else:
        yield from judge_partitions(view, "single_replica", momentary=False)
