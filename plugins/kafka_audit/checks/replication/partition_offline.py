from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.coordinators import coordinated_by
from kafka_audit.cluster.held_up_by import held_up_by
from kafka_audit.differences.tables import LISTED, ReplicaState
from kafka_audit.model.tables import EligibleReplicas
from kafka_audit.model.text import brokers, listing


@check(code="KA601", severity=Severity.CRITICAL, parts=("topics",))
def partition_offline(view: ClusterView) -> Judgements:
    """A partition has no leader."""
    eligible = {(row.topic, row.partition): row for row in view.newest(EligibleReplicas)}

    def more(state: ReplicaState) -> Mapping[str, object]:
        return {**_stopped(view, state), **_first(view, state, eligible.get((state.topic, state.partition)))}

    yield from judge_partitions(view, "leaderless", more=more)


def _stopped(view: ClusterView, state: ReplicaState) -> Mapping[str, object]:
    """Return who depends on the partition."""
    held = coordinated_by(view, state.topic, state.partition)
    if held is None:
        return {"who": "clients", "what": "write or read", "known": ""}
    known = {"known": f", among them {listing(held.known, LISTED)}", "ids": held.known} if held.known else {"known": ""}
    who = f"{held.who} hashes to {held.partition} of {held.partitions}"
    return {"who": who, "what": held.what, "partitions": held.partitions, **known}


def _first(view: ClusterView, state: ReplicaState, row: EligibleReplicas | None) -> Mapping[str, object]:
    """Return which brokers can lead the partition with every acknowledged record."""
    waits_for = held_up_by(view, state.topic, state.partition)
    evidence: dict[str, object] = {"elr": "", "eligible": "not reported"}
    if row is not None:
        evidence = {"elr": f", eligible {listing(row.eligible) or 'none'}", "eligible": row.eligible or "none"}
    if state.isr:
        return {**evidence, "first": f"one of the brokers of the last ISR ({listing(waits_for)})"}
    if row is not None and row.eligible:
        return {**evidence, "first": f"{brokers(waits_for)}, eligible to lead with every acknowledged record (`Elr`)"}
    if row is not None and row.last_known:
        return {
            **evidence,
            "first": f"{brokers(row.last_known)}, the last known to be eligible (`LastKnownElr`), which may lack records",
        }
    return {**evidence, "first": f"all of its replicas ({listing(waits_for)}), because no broker is in the last ISR"}
