from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.differences.tables import ReplicaState


@check(code="KA605", severity=Severity.HIGH, parts=("topics",))
def too_few_replicas(view: ClusterView) -> Judgements:
    """A partition requires all of its replicas to be in sync."""
    yield from judge_partitions(view, "too_few_replicas", momentary=False, min_isr=True, more=_adding)


def _adding(state: ReplicaState) -> Mapping[str, object]:
    return {"adding": len(state.replicas) - state.factor}
