"""Whether an incident became worse: the one judgement, and the same words, of pages, files, terminal and alerts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_audit.model.finding import Finding, Incident, Lifecycle, Resource, Severity, SeverityName
from kafka_audit.model.report import EarlierIncident, ReportedIncident, Worse
from kafka_audit.model.text import brokers, clean, counted, listing
from kafka_audit.report.continuity import Continuity
from kafka_audit.report.text import LIFECYCLE, utc_text

_MOST_JOINED = 100
"""Brokers or topics of one incident that the document names."""

_FEW = 6
"""That a sentence names; beyond it they are counted."""


@dataclass(frozen=True, kw_only=True)
class Worsening:
    """Brokers, else topics, that an incident affects and did not before, and its lower severity before; at least one of them."""

    joined: tuple[str, ...] = ()
    severity_before: SeverityName | None = None

    @property
    def reported(self) -> Worse:
        """As an incident of a report has it."""
        more = max(len(self.joined) - _MOST_JOINED, 0)
        return Worse(joined=self.joined[:_MOST_JOINED], more=more, severity_before=self.severity_before)


def affected(resources: Iterable[Resource]) -> tuple[str, ...]:
    """Return brokers, else topics; partitions come and go by the thousand while the same broker is down."""
    roots = {resource.root: resource for resource in resources}
    of_brokers = sorted(root for root, resource in roots.items() if resource.is_of_broker)
    return tuple(of_brokers or sorted(roots))


def worsening(now: Iterable[str], severity: str, *, before: Collection[str], worst: str) -> Worsening | None:
    """Return what became worse, None where nothing did.

    Args:
        now: what is affected.
        severity: of now.
        before: what was affected, or is not known to have been fine.
        worst: the severity before.
    """
    joined = tuple(name for name in now if name not in before)
    rose = Severity[severity] > Severity[worst]
    return Worsening(joined=joined, severity_before=Severity[worst].word if rose else None) if joined or rose else None


def worse_since(incident: Incident, findings: Mapping[str, Finding], continuity: Continuity) -> Worse | None:
    """Return what became worse of an incident that goes on; `findings` are by fingerprint.

    Where a check had no result before, as in a report of a version without it, a failure of it is no change: it may be as old as
    the incident.
    """
    continued, earlier = continuity.continued(incident), continuity.before.findings
    if incident.lifecycle is not Lifecycle.ONGOING or not earlier:
        return None
    own = [findings[fingerprint] for fingerprint in incident.findings]
    before = {f.resource.root for f in own if f.lifecycle is not Lifecycle.NEW}
    for one in continued:
        before |= {Resource.of(earlier[each].resource.name).root for each in one.findings if each in earlier}
    # A failure that was muted is in no incident of that report: that its mute ended is no change.
    own_before = [earlier[f.fingerprint].severity for f in own if f.lifecycle is Lifecycle.ONGOING and f.fingerprint in earlier]
    worst = max(
        [*(one.severity for one in continued), *own_before], key=lambda name: Severity[name], default=incident.severity.name
    )
    judged = [f for f in own if continuity.before.judged(f.code, f.resource)]
    comparable = [f.severity for f in own if not f.muted and (f in judged or f.lifecycle is not Lifecycle.NEW)]
    now, roots = affected(f.resource for f in own), {f.resource.root for f in judged}
    severity = max(comparable, default=Severity[worst]).name
    found = worsening(now, severity, before={*before, *(name for name in now if name not in roots)}, worst=worst)
    return None if found is None else found.reported


def since_text(incident: ReportedIncident | EarlierIncident) -> str:
    """Return since when an incident lasts: `since 29 Nov 2026 14:02 UTC (3 audits)`, `first seen in this audit`."""
    when = utc_text(incident.first_seen)
    if isinstance(incident, ReportedIncident) and incident.lifecycle is Lifecycle.NEW and incident.audits <= 1:
        before, day = utc_text(incident.not_yet_at), when[: -len("00:00 UTC")]
        before = before.removeprefix(day).removesuffix(" UTC")
        return f"first seen in this audit{f', {when}' if when else ''}{f' (not yet at {before})' if before else ''}"
    if not when:
        return "since an earlier audit"
    return f"since {when} ({counted(incident.audits, 'audit')})" if incident.audits else f"since {when}"


def lifecycle_text(incident: ReportedIncident) -> str:
    """Return an incident's place in time for a terminal and Markdown: `= ongoing, worse: now broker 3 too`."""
    worse = f", worse: {worse_text(incident.worse)}" if incident.worse else ""
    return f"{LIFECYCLE[incident.lifecycle]}{worse}"


def worse_text(worse: Worse) -> str:
    """Return what became worse as the end of a sentence."""
    joined = f"now {_named(worse.joined, worse.more)} too" if worse.joined else ""
    return ", ".join(part for part in (joined, f"{worse.severity_before} before" if worse.severity_before else "") if part)


def _named(names: Sequence[str], more: int) -> str:
    resources = [Resource.of(name) for name in names]
    ids = [resource.broker for resource in resources if resource.broker is not None]
    if len(names) + more > _FEW:
        kind = "broker" if resources[0].is_of_broker else "topic" if resources[0].topic is not None else "place"
        return counted(len(names) + more, f"more {kind}")
    others = [clean(one.name.replace("/", " ", 1), 60) for one in resources if one.broker is None]
    return listing([*([brokers(ids)] if ids else []), *others], 3)
