"""Findings of one incident by code and broker, so that 5,000 of a kind are read as one line."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from kafka_audit.cluster.held_up_by import held_up_by
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Finding, Incident, Resource
from kafka_audit.model.report import CodeGroup

FIRST = 10
"""Resources that are named; all of them are among the findings."""


def finding_groups(incident: Incident, findings: Mapping[str, tuple[int, Finding]], view: ClusterView) -> tuple[CodeGroup, ...]:
    """Return an incident's findings by code, its cause first: how many, at which brokers how many each, and the first names.

    `findings` are those of the audit by fingerprint, each with its place.
    A partition counts at every broker that it waits for; where it waits for none, at its leader.
    """
    own = {findings[name][0]: findings[name][1] for name in (*incident.findings, *incident.explains) if name in findings}
    by_code: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for _, finding in sorted(own.items(), key=lambda entry: entry[0]):
        by_code[finding.code, finding.name].append(finding)
    ordered = sorted(by_code.items(), key=lambda item: (item[0][0] != incident.cause, item[0]))
    return tuple(
        CodeGroup(
            code=code,
            name=name,
            findings=len(group),
            brokers={str(broker): number for broker, number in sorted(_count(group, view).items())},
            first=tuple(finding.resource.name for finding in group[:FIRST]),
        )
        for (code, name), group in ordered
    )


def _count(group: Iterable[Finding], view: ClusterView) -> Counter[int]:
    return Counter(broker for finding in group for broker in _brokers(finding.resource, view))


def _brokers(resource: Resource, view: ClusterView) -> Iterable[int]:
    if resource.broker is not None:
        return (resource.broker,)
    partition = resource.topic_partition
    state = view.partitions.state(*partition) if partition else None
    if partition is None or state is None:
        return ()
    return held_up_by(view, *partition) or (() if state.leader is None else (state.leader,))
