"""Alerts as text that no channel has escaped yet: subject, facts, reasons, first command, links."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from kafka_audit.alerting.conditions import INCIDENT, SHARED, AuditResult
from kafka_audit.alerting.policy import AlertEvent, AlertKind, moment
from kafka_audit.alerting.shared_causes import SharedCause
from kafka_audit.model.report import Report, ReportedIncident
from kafka_audit.model.text import clean, counted
from kafka_audit.report import remedies
from kafka_audit.report.impacts import who_is_hurt
from kafka_audit.report.plain_text import terminal
from kafka_audit.report.worsening import worse_text

TEXT_WIDTH = 80
MOST_ALERTS = 10
"""Messages on one audit; 30 brokers that are down are 30 incidents, which must not cause 30 mails."""

MOST_LISTED = 50
_MOST_OTHERS = 3
"""Other incidents that a message names; beyond them they are counted."""


@dataclass(frozen=True, kw_only=True)
class Links:
    """Where to read on: addresses of pages, and the path of the report in the store; each may be empty."""

    report: str = ""
    log: str = ""
    stored: str = ""


@dataclass(frozen=True, kw_only=True)
class AlertMessage:
    """An event as text. It quotes what a cluster said: whatever shows it escapes it (`rendering`).

    Attributes:
        key: mails of one key are one thread.
        first: whether it is the first of its key.
        subject: the change, the cluster and the headline.
        action: trigger, or resolve where something is over, as services that page people call them.
        facts: one line each: how bad, since when, what is new.
        impact: which clients suffer now; may be empty.
        reasons: the incident as on a terminal, plain; may be empty.
        command: the first diagnostic command; may be empty.
        step: what to do first, where no command shows the fault.
        links: where to read on.
        document: the report to attach; None where there is none, or nothing to read in it.
    """

    key: str
    first: bool
    subject: str
    action: str = "trigger"
    facts: tuple[str, ...] = ()
    impact: str = ""
    reasons: str = ""
    command: str = ""
    step: str = ""
    links: Links = Links()
    document: Report | None = None


def alert_message(event: AlertEvent, result: AuditResult, links: Links, *, first: bool = True) -> AlertMessage:
    """Return the message on an event; only the first one of an audit says what else the audit found."""
    document = result.document
    incident = _incident(event, document)
    change = event.change.value
    if event.change is AlertKind.STILL:
        change = f"{change}, {duration(event.lasted)}"
    return AlertMessage(
        key=event.alert.key,
        first=event.change in {AlertKind.NEW, AlertKind.NOT_AUDITED} and event.worse is None,
        subject=f"[{change}] {result.cluster}: {_headline(event)}",
        action="resolve" if event.change in {AlertKind.RESOLVED, AlertKind.AUDITED_AGAIN} else "trigger",
        facts=tuple(_facts(event, document, incident, whole=first)),
        impact="" if incident is None else who_is_hurt(incident.impacts) or incident.impact,
        reasons="" if document is None or incident is None else terminal.incident_details(document, incident, width=TEXT_WIDTH),
        command="" if incident is None else remedies.command_to_see(incident),
        step="" if incident is None else remedies.step_without_command(incident),
        links=links,
        document=None if incident is None else document,
    )


def messages(
    events: Sequence[AlertEvent], result: AuditResult, links: Links, shared: Mapping[str, str] | None = None
) -> list[AlertMessage]:
    """Return the messages on all events of an audit; beyond the first ones, which are the worst, one lists the others.

    `shared` has a line for each headline with a cause that other clusters share.
    """
    written = (alert_message(event, result, links, first=not number) for number, event in enumerate(events))
    every = [_with_line(message, event, shared or {}) for message, event in zip(written, events, strict=True)]
    if len(every) <= MOST_ALERTS:
        return every
    shown, rest = every[: MOST_ALERTS - 1], every[MOST_ALERTS - 1 :]
    listed = tuple(other.subject for other in rest[:MOST_LISTED])
    more = (f"… and {len(rest) - MOST_LISTED} more, in the report",) if len(rest) > MOST_LISTED else ()
    subject = f"[AND MORE] {result.cluster}: {counted(len(rest), 'more message')} of the same audit"
    return [*shown, AlertMessage(key=f"more-{rest[0].key}", first=True, subject=subject, facts=(*listed, *more), links=links)]


def shared_messages(events: Sequence[AlertEvent], causes: Iterable[SharedCause], links: Links) -> list[AlertMessage]:
    """Return the messages on causes that clusters share; each lists what it explains, cluster by cluster."""
    by_marks = {cause.marks: cause for cause in causes}
    every = []
    for event in events:
        condition = event.alert.condition
        message = alert_message(event, AuditResult(cluster=counted(len(condition.affected), "cluster")), links)
        cause = by_marks.get(condition.findings)
        lines = [f"{trouble.cluster}: {trouble.headline}" for trouble in cause.troubles] if cause else list(condition.affected)
        more = [f"… and {len(lines) - MOST_LISTED} more"] if len(lines) > MOST_LISTED else []
        end = [] if message.action == "resolve" else ["These clusters send no separate alerts about it."]
        every.append(replace(message, facts=(*message.facts, *lines[:MOST_LISTED], *more, *end)))
    return every


def _with_line(message: AlertMessage, event: AlertEvent, shared: Mapping[str, str]) -> AlertMessage:
    line = None if message.action == "resolve" else shared.get(clean(event.alert.condition.headline))
    return message if line is None else replace(message, facts=(*message.facts, line))


def _headline(event: AlertEvent) -> str:
    headline = event.alert.condition.headline
    match event.change:
        case AlertKind.AUDITED_AGAIN:
            return event.before
        case AlertKind.NOT_AUDITED:
            return f"{headline}; {event.before}"
        case AlertKind.RESOLVED:
            return f"resolved after {duration(event.lasted)}: {headline}"
        case _:
            return headline


def _incident(event: AlertEvent, document: Report | None) -> ReportedIncident | None:
    """Return the incident of the report that an event is about; None where it is over, or there is none."""
    if document is None or event.change in {AlertKind.RESOLVED, AlertKind.AUDITED_AGAIN}:
        return None
    same = (i for i in document.incidents if i.headline == event.alert.condition.headline)
    return next(same, None)


def _facts(event: AlertEvent, document: Report | None, incident: ReportedIncident | None, *, whole: bool) -> Iterator[str]:
    alert = event.alert
    condition = alert.condition
    if event.change in {AlertKind.RESOLVED, AlertKind.AUDITED_AGAIN}:
        yield f"It lasted {duration(event.lasted)}, from {moment(alert.since)}, {counted(alert.audits, 'audit')}."
    elif condition.kind == SHARED:
        yield f"{condition.severity}. Since {moment(alert.since)}, {counted(alert.audits, 'audit')}."
    elif condition.kind == INCIDENT:
        confidence = f"{incident.confidence}, " if incident else ""
        seen_by = counted(alert.audits, "audit")
        yield f"{condition.severity}, {confidence}{condition.cause}. Since {moment(alert.since)}, {seen_by}."
    else:
        yield f"Since {moment(alert.since)}. Checks without data are unknown."
    worse = event.worse.reported if event.worse else None
    if worse:
        yield f"Worse than in the alert of {moment(event.compared)}: {worse_text(worse)}."
    if document is None:
        return
    if incident and event.change in {AlertKind.WORSE, AlertKind.STILL} and worse != (in_report := incident.worse or None):
        # Not each audit sends an alert: a channel may refuse it, a command may run the audit, and no alert says a thing twice.
        says = f"worse, {worse_text(in_report)}" if in_report else incident.lifecycle
        yield f"The report says {says}: it is compared with the previous report, an alert with all alerts before it."
    if not whole:
        return
    told = condition.headline
    for title, others in (("ALSO", document.incidents), ("RESOLVED", document.resolved_incidents)):
        named = [clean(one.headline) for one in others if one.headline != told]
        more = [f"and {len(named) - _MOST_OTHERS} more"] if len(named) > _MOST_OTHERS else []
        if named:
            yield f"{title:<9}{'; '.join((*named[:_MOST_OTHERS], *more))}"
    coverage, unknown = document.coverage, document.counts.UNKNOWN
    not_known = f"; {counted(unknown, 'result')} not known" if unknown else ""
    yield f"{'COVERAGE':<9}{coverage.answered} of {coverage.asked} reads answered{not_known}"


def duration(lasted: timedelta) -> str:
    """Return `40 min`, `24 h`, `3 d`."""
    minutes = max(int(lasted.total_seconds()) // 60, 0)
    if minutes < 120:  # noqa: PLR2004 -- two hours read better as minutes
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 72 * 60 else f"{minutes // (24 * 60)} d"
