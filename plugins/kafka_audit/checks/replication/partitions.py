"""Checks of partitions: what fails at each partition of a kind, else one PASS of the cluster."""

from collections.abc import Callable, Mapping

from kafka_audit.checks import ClusterView, Judgements, Severity, Status
from kafka_audit.differences.tables import ReplicaState

NO_TOPIC = {"error": "no view lists a topic", "needs": "Describe on Topic, if topics exist"}
"""Evidence where a KRaft cluster shows no topic: there may be none, or none that the auditor may describe."""


def _no_more(_state: ReplicaState) -> Mapping[str, object]:
    return {}


def _own_severity(_state: ReplicaState) -> Severity | None:
    return None


def judge_partitions(  # noqa: PLR0913 -- what the checks of the family differ in
    view: ClusterView,
    kind: str,
    *,
    momentary: bool = True,
    min_isr: bool = False,
    severity: Callable[[ReplicaState], Severity | None] = _own_severity,
    more: Callable[[ReplicaState], Mapping[str, object]] = _no_more,
) -> Judgements:
    """Judge each partition of a kind, and the cluster where there is none, or not all is known.

    Args:
        view: the cluster.
        kind: of the partitions that fail, see `ReplicaState`.
        momentary: it shows for a moment in a healthy cluster too, so that it must be the same in two samples.
        min_isr: whether the check cannot pass where min.insync.replicas is not known.
        severity: of a partition's failure; None for the check's own.
        more: further evidence.
    """
    states = view.partitions.of_kind(kind)
    for state in states:
        evidence = {**_evidence(state), **more(state)}
        resource = f"topic/{state.topic}/partition/{state.partition}"
        if state.repeated or not momentary:
            yield view.judge(resource, Status.FAIL, evidence, severity=severity(state))
        else:
            error = f"{evidence['partition']} changed between two samples, or was sampled once"
            yield view.unknown(resource, error, "another audit", evidence)
    total, unknown = view.partitions.count.partitions, _unknown(view, kind, min_isr=min_isr)
    if unknown:
        yield view.judge("cluster", Status.UNKNOWN, unknown, total=total)
    elif not states:
        yield view.judge("cluster", Status.PASS, total=total)


def _evidence(state: ReplicaState) -> dict[str, object]:
    return {
        "partition": f"{state.topic}-{state.partition}",
        "replicas": state.replicas,
        "factor": state.factor,
        "isr": state.isr or "none",
        "in_sync": len(state.isr),
        "missing": state.missing,
        "leader": "none" if state.leader is None or state.leader < 0 else state.leader,
        "min_isr": state.min_isr,
    }


def _unknown(view: ClusterView, kind: str, *, min_isr: bool) -> Mapping[str, str]:
    """Return error and needs of what keeps the cluster from passing."""
    if view.kraft and not view.partitions.count.partitions:
        return NO_TOPIC
    gap = view.min_isr_gap if min_isr else None
    if gap is not None:
        return {"error": gap.error, "needs": gap.needs}
    unlisted = view.partitions.unlisted(kind)
    return {"error": f"{unlisted} more partitions are not listed", "needs": "fewer faults at once"} if unlisted > 0 else {}
