"""Findings that say the same of several brokers or topics, as one row of the page that opens."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_audit.model.finding import Resource
from kafka_audit.model.report import ReportedFinding
from kafka_audit.model.text import clean, counted, listing, ranges

_NAMES = 3
_PLACES = frozenset({"address", "addresses", "host", "target", "topic", "who"})
"""Evidence that names where a finding is."""


@dataclass(frozen=True, kw_only=True)
class FindingRow:
    """One row: findings, the first of which is shown, where they are in a few words, and the incident they are in."""

    findings: tuple[ReportedFinding, ...]
    where: str
    incident: int | None


def finding_rows(findings: Sequence[ReportedFinding], incidents: Mapping[str, int], *, together: bool = True) -> list[FindingRow]:
    """Return rows in the order of their first findings; with `together`, equal findings of one incident share one.

    `incidents` has the number of the incident by the fingerprint of each finding inside one.
    """
    found: dict[object, list[ReportedFinding]] = {}
    for finding in findings:
        incident = incidents.get(finding.fingerprint)
        found.setdefault((incident, _likeness(finding)) if together else finding.fingerprint, []).append(finding)
    return [_row(group, incidents.get(group[0].fingerprint)) for group in found.values()]


def _likeness(finding: ReportedFinding) -> object:
    """Return what equal findings have in common: the state, the kind of resource, its setting, and the words of the evidence."""
    resource = Resource.of(finding.resource.name)
    state = (finding.code, finding.status, finding.severity, finding.confidence, finding.lifecycle, finding.muted)
    places = (resource.type, resource.listener, resource.key, resource.log_dir)
    return state, places, frozenset(_words(finding.evidence))


def _words(evidence: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield what says why: such as an error; not where or how much, which are numbers, names and addresses."""
    for key, value in evidence.items():
        if isinstance(value, str) and key not in _PLACES and not any(map(str.isdigit, value)):
            yield key, value


def _row(findings: Sequence[ReportedFinding], incident: int | None) -> FindingRow:
    if len(findings) == 1:
        return FindingRow(findings=tuple(findings), incident=incident, where=clean(findings[0].resource.name, 160))
    resources = [Resource.of(finding.resource.name) for finding in findings]
    topics = dict.fromkeys(resource.topic for resource in resources if resource.topic is not None)
    ids = {resource.broker for resource in resources if resource.broker is not None}
    if ids:
        where = f"{'Broker' if len(ids) == 1 else 'Brokers'} {ranges(ids)}"
    elif topics:
        where = f"{counted(len(topics), 'topic')}: {listing((clean(name, 60) for name in topics), _NAMES)}"
    else:
        where = listing((clean(resource.name, 60) for resource in resources), _NAMES)
    return FindingRow(findings=tuple(findings), incident=incident, where=where)
