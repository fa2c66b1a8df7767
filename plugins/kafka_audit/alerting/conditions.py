"""What one audit has to alert about: incidents that keep the gate shut, too few answers, an audit that judged nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from kafka_audit.model.finding import Lifecycle, Resource, Severity, Status
from kafka_audit.model.report import Report, ReportedFinding
from kafka_audit.model.tables import Snapshot
from kafka_audit.model.text import counted
from kafka_audit.report import gate
from kafka_audit.report.worsening import affected

INCIDENT, COVERAGE, AUDIT, SHARED = "incident", "coverage", "audit", "shared"
NOT_COLLECTED = "KA001"
REGISTRY = ("zookeeper", "zookeeper /brokers/ids")
"""Observer and operation without which it is unknown which brokers there should be."""


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """One cluster in one run.

    Attributes:
        cluster: its name; the DAG's where none of several clusters was audited.
        document: its report. None with a reason: it was not audited; None without: audits run, and each cluster has its own.
        why: why there is no report.
    """

    cluster: str
    document: Report | None = None
    why: str = ""

    @property
    def is_blind(self) -> bool:
        """Whether nothing was judged."""
        return bool(self.why) if self.document is None else is_blind(self.document)


@dataclass(frozen=True, kw_only=True)
class AlertLimits:
    """When an alert is due. `fail_on` and `min_coverage` are the gate's; `remind` None means never again."""

    fail_on: str = "high"
    min_coverage: float = 1.0
    remind: timedelta | None = timedelta(hours=24)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One thing to alert about.

    Attributes:
        kind: incident; coverage: too few reads were answered; audit: nothing was judged; shared: a cause of several clusters.
        headline: as the report has it, not escaped.
        cause: a check's code, "" where there is no finding.
        severity: of the worst failure.
        findings: code and resource of each failure that keeps the gate shut. Unlike fingerprints they survive an unknown cluster
            id. Of a shared cause: its marks.
        affected: the brokers among the resources, else the topics. Of a shared cause: the clusters.
    """

    kind: str
    headline: str
    cause: str = ""
    severity: str = Severity.HIGH.name
    findings: tuple[tuple[str, str], ...] = ()
    affected: tuple[str, ...] = ()


def conditions(result: AuditResult, limits: AlertLimits) -> tuple[Condition, ...]:
    """Return what an audit has to alert about, worst first; nothing where all is well."""
    document = result.document
    if document is None:
        return (Condition(kind=AUDIT, headline=result.why),) if result.why else ()
    blind = result.is_blind
    least = gate.severity_of(limits.fail_on)
    failed = {f.fingerprint: f for f in document.findings if gate.fails_gate(f, least)}
    open_conditions: list[Condition] = []
    not_collected: list[str] = []
    for incident in document.incidents:
        grouped = [failed.pop(fingerprint) for fingerprint in incident.inside if fingerprint in failed]
        if blind and incident.cause == NOT_COLLECTED:
            not_collected.append(incident.headline)
        elif grouped:
            open_conditions.append(_incident(incident.headline, incident.cause, grouped))
    ungrouped = [f for f in failed.values() if not (blind and f.code == NOT_COLLECTED)]
    if ungrouped:
        worst = max(ungrouped, key=lambda f: Severity[f.severity])
        more = f"; {counted(len(ungrouped) - 1, 'more finding')}" if len(ungrouped) > 1 else ""
        open_conditions.append(_incident(f"{worst.message}{more}", worst.code, ungrouped))
    code, sentence = gate.evaluate_gate(document, limits.fail_on, limits.min_coverage)
    if blind:
        headline = not_collected[0] if not_collected else sentence
        open_conditions.append(Condition(kind=AUDIT, headline=headline, cause=NOT_COLLECTED))
    elif not open_conditions and code == gate.UNCOVERED:
        open_conditions.append(Condition(kind=COVERAGE, headline=sentence))
    return tuple(open_conditions)


def _incident(headline: str, cause: str, failed: Sequence[ReportedFinding]) -> Condition:
    return Condition(
        kind=INCIDENT,
        headline=headline,
        cause=cause,
        severity=max((f.severity for f in failed), key=lambda name: Severity[name]),
        findings=tuple((f.code, f.resource.name) for f in failed),
        affected=affected(Resource.of(f.resource.name) for f in failed),
    )


def is_blind(document: Report) -> bool:
    """Return whether a report judges nothing: the cluster's id or its registered brokers are unknown."""
    unread = {(read.observer, read.operation) for read in document.coverage.unknown}
    return str(document.cluster_id).startswith(Snapshot.UNKNOWN_ID) or REGISTRY in unread


def has_ended(condition: Condition, document: Report, limits: AlertLimits) -> bool:
    """Return whether a judged report shows that an earlier condition has ended."""
    if condition.kind == COVERAGE:
        coverage = document.coverage
        return bool(coverage.answered >= limits.min_coverage * coverage.asked)
    now = {(f.code, f.resource.name): f for f in document.findings}
    least = gate.severity_of(limits.fail_on)
    return all(_has_ended(finding, now, document, least) for finding in condition.findings)


def _has_ended(
    finding: tuple[str, str], now: Mapping[tuple[str, str], ReportedFinding], document: Report, least: Severity
) -> bool:
    code, resource = finding
    current = now.get(finding)
    compared = document.previous_snapshot_id is not None
    if current is not None:
        if current.status == Status.FAIL:
            return not gate.fails_gate(current, least)
        # Where there is a report before this one, an earlier failure that is not known now is marked as such.
        return current.lifecycle != Lifecycle.INCOMPARABLE and (current.status != Status.UNKNOWN or compared)
    unknown = (f.resource for f in now.values() if f.code == code and f.status == Status.UNKNOWN)
    return compared or not any(Resource.of(other.name).concerns(Resource.of(resource)) for other in unknown)


def summary_of_conditions(open_conditions: Sequence[Condition]) -> str:
    """Return a judgement in a few words."""
    incidents = [condition for condition in open_conditions if condition.kind == INCIDENT]
    if incidents:
        return counted(len(incidents), "incident")
    return "too few reads answered" if open_conditions else "no incident"
