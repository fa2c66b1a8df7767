"""Partitions with a missing replica: a follower that gave up fetching (KA618), or no known cause, an incident for each broker."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kafka_audit.checks import Confidence
from kafka_audit.checks.incident import Case, StoryFacts, evidence_of
from kafka_audit.checks.repair import last_in_sync
from kafka_audit.cluster.held_up_by import held_up_by
from kafka_audit.cluster.partitions import PartitionState
from kafka_audit.faults.edges import REPLICATE
from kafka_audit.faults.fault import Fault
from kafka_audit.faults.solver import Diagnosis, catches_up, diagnoses_into
from kafka_audit.model.finding import Evidence, Finding
from kafka_audit.model.text import counted


def by_missing_broker(case: Case) -> Iterable[Case]:
    """Split by the broker that holds up most of the partitions, then by the one that holds up most of the rest, and so on.

    A partition of which nothing is known but its code is reported by that.
    """
    left = [(root, held) for root in case.roots if not root.muted and (held := _held_up_by(case, root))]
    while left:
        count = Counter(broker for _, held in left for broker in held)
        broker = max(sorted(count), key=count.__getitem__)
        theirs = [root for root, held in left if broker in held]
        left = [(root, held) for root, held in left if broker not in held]
        yield replace(case, roots=tuple(theirs), sources=(broker,))


def _held_up_by(case: Case, symptom: Finding) -> frozenset[int]:
    key = symptom.resource.topic_partition
    return held_up_by(case.view, *key) if key else frozenset()


def missing_broker(case: Case) -> StoryFacts:
    """Return which broker is missing, in how many partitions, and what that means now."""
    (broker,) = case.sources
    held = case.view.partitions
    keys = {key for root in (*case.explained, *case.besides) if (key := root.resource.topic_partition)}
    states = [state for key in keys if (state := held.state(*key)) is not None]
    leaderless = sum(state.leader is None for state in states)
    edges = _not_followed(case, broker, states)
    leading, weighed = (
        _leading(edges),
        any(edge.measured or (edge.edge.effect.state != "works" and edge.candidates) for edge in edges),
    )
    fault, confidence = leading or (None, Confidence.SUSPECTED if weighed else Confidence.MEASURED)
    return StoryFacts(
        facts={
            "broker": broker,
            "fault": "" if fault is None else fault.sentence,
            "leaders": tuple({edge.edge.target for edge in edges}),
            "lacking": len(states) - leaderless,
            "waiting": len(states),
            "held": held.held_by(broker),
            "leaderless": leaderless,
            "refused": any(root.code == "KA602" for root in case.explained),
            "waits": any(catches_up(case.view, state.leader, broker) for state in states),
            "start": last_in_sync(case, f"broker {broker}") if leaderless else (),
        },
        evidence=(
            *evidence_of(sorted(case.explained, key=lambda finding: finding.code)),
            Evidence(observer=f"broker {broker}", text=_said_of(case, broker)),
        ),
        confidence=confidence,
        edges=edges,
        cause=None if fault is None or fault.in_progress else fault.check,
    )


def _not_followed(case: Case, broker: int, states: Iterable[PartitionState]) -> list[Diagnosis]:
    """Return the diagnoses of the leaders that a broker does not follow, and of which no other check names the cause."""
    leaders = sorted({state.leader for state in states if state.leader is not None})
    into = (diagnosis for leader in leaders for diagnosis in diagnoses_into(case.view, leader))
    return [one for one in into if one.edge.kind == REPLICATE and broker in one.edge.sources]


def _leading(edges: Sequence[Diagnosis]) -> tuple[Fault, Confidence] | None:
    """Return which one fault breaks all of these edges, and how sure that is; None where there is no such."""
    leads = {edge.leading for edge in edges}
    if len(leads) != 1 or (lead := leads.pop()) is None:
        return None
    return lead


def _said_of(case: Case, broker: int) -> str:
    own = case.own_view(broker)
    known = "registered" if broker in case.view.in_zookeeper or (case.view.kraft and own) else "not registered"
    answer = f"own view lists {counted(own.listed[0], 'broker')}" if own else "no view was read from it"
    return f"{known}; {answer}"


def given_up(case: Case, symptom: Finding) -> bool:
    """Explain the partitions that the follower gave up."""
    key = symptom.resource.topic_partition
    return key is not None and f"{key[0]}-{key[1]}" in case.roots[0].texts("partitions")


def lacks_the_broker(case: Case, symptom: Finding) -> bool:
    """Explain what else lacks the broker, for example partitions that lost it in this audit."""
    return case.sources[0] in _held_up_by(case, symptom)
