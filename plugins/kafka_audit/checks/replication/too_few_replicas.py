"""KA605."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import ReplicaState
from kafka_audit.model.finding import Judgement, Severity


@check(code="KA605", severity=Severity.HIGH, parts=("topics",))
def too_few_replicas(view: ClusterView) -> Iterator[Judgement]:
    """A partition requires all of its replicas to be in sync."""
    yield from judge_partitions(view, "too_few_replicas", momentary=False, min_isr=True, more=_adding)


def _adding(state: ReplicaState) -> Mapping[str, object]:
    return {"adding": len(state.replicas) - state.factor}
