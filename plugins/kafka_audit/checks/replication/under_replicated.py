from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.differences.tables import ReplicaState


@check(code="KA604", severity=Severity.HIGH, parts=("topics",))
def under_replicated(view: ClusterView) -> Judgements:
    """Replicas of a partition are not in sync."""
    yield from judge_partitions(view, "under_replicated", severity=_severity, more=_since)


def _severity(state: ReplicaState) -> Severity | None:
    return None if state.lasting else Severity.MEDIUM


def _since(state: ReplicaState) -> Mapping[str, object]:
    if state.lasting is None:
        since = "first seen in this audit (temporary during a restart)"
    elif state.lasting:
        since = "as in the previous audit"
    else:
        since = "temporary so far: in sync in the previous audit, or its broker has registered again"
    return {"gone": state.unregistered or "none", "since": since}
