from functools import cache, partial

from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.differences.tables import ReplicaState
from kafka_audit.faults.solver import catches_up


@check(code="KA603", severity=Severity.MEDIUM, parts=("topics",))
def at_min_isr(view: ClusterView) -> Judgements:
    """A partition has lost replicas down to min.insync.replicas."""
    waits = cache(partial(catches_up, view))

    def severity(state: ReplicaState) -> Severity | None:
        return Severity.INFO if all(waits(state.leader, replica) for replica in state.missing) else None

    yield from judge_partitions(view, "at_min_isr", min_isr=True, severity=severity)
