"""Who is alerted when: one pure decision, `(state, audit, now) -> events, state`.

An alert is sent when an incident is new, when it got worse, as a reminder, and when it is over; when a cluster was not audited,
and when it is audited again. An incident is the same as long as any failure of it goes on, whatever its headline says meanwhile.
An incident that could not be judged is not resolved and not repeated.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from kafka_audit.alerting.conditions import (
    AUDIT,
    COVERAGE,
    SHARED,
    AlertLimits,
    AuditResult,
    Condition,
    conditions,
    has_ended,
    summary_of_conditions,
)
from kafka_audit.alerting.dedupe_state import DedupeState, OpenAlert
from kafka_audit.alerting.shared_causes import RunTroubles, shared_causes
from kafka_audit.model.finding import Severity
from kafka_audit.model.report import Report
from kafka_audit.model.text import clean, counted
from kafka_audit.report.worsening import Worsening, worsening


class AlertKind(StrEnum):
    """The first word of a subject."""

    NOT_AUDITED = "NOT AUDITED"
    AUDITED_AGAIN = "AUDITED AGAIN"
    NEW = "NEW"
    WORSE = "WORSE"
    STILL = "STILL"
    RESOLVED = "RESOLVED"


@dataclass(frozen=True, kw_only=True)
class AlertEvent:
    """One thing to send.

    Attributes:
        change: what happened.
        alert: what it happened to, as it is kept from now on.
        lasted: since the first alert on it.
        worse: what became worse since the alerts before; only where the change is WORSE, or clusters have a shared cause again.
        compared: when the newest alert on it before was sent, ISO 8601; only with `worse`.
        before: the last judgement before audits failed, or the first one after; only where that is the subject.
    """

    change: AlertKind
    alert: OpenAlert
    lasted: timedelta
    worse: Worsening | None = None
    compared: str = ""
    before: str = ""


def decide_alert(
    state: DedupeState, result: AuditResult, now: datetime, limits: AlertLimits, folded: Collection[str] = ()
) -> tuple[tuple[AlertEvent, ...], DedupeState]:
    """Decide what to send after an audit.

    Args:
        state: what was sent before.
        result: the audit.
        now: with a time zone.
        limits: from when on a finding counts, and when to remind.
        folded: headlines of conditions that the alert on a shared cause names; they begin no alert here, and one that is open
            goes on.

    Returns:
        The events, and the state to keep once they are sent.
    """
    document = result.document
    ended = (document.finished_at if document else None) or ""
    if document is not None and ended and ended <= state.newest:
        return (), state
    matched, unmatched = _matched(state.open_alerts, conditions(result, limits))
    decided = [_goes_on(_with_others(alert, condition, state), condition, now, limits) for alert, condition in matched]
    decided += [_begins(condition, state, now) for condition in unmatched if clean(condition.headline) not in folded]
    again = {alert.key for alert, _ in matched}
    for alert in state.open_alerts:
        if alert.key not in again:
            decided.extend(_absent(alert, result, now, limits))
    blind = result.is_blind
    kept = tuple(alert for alert, event in decided if event is None or not _ends(event))
    judged = "audits run" if document is None else summary_of_conditions([alert.condition for alert in kept])
    after = DedupeState(
        open_alerts=kept,
        verdict=state.verdict if blind else judged,
        judged_at=state.judged_at if blind else now.isoformat(timespec="seconds"),
        failed=state.failed + 1 if blind else 0,
        newest=ended or state.newest,
    )
    return tuple(_with_verdict(event, judged, state.failed) for event in _in_order(decided)), after


def decide_shared(
    state: DedupeState, run: RunTroubles, now: datetime, limits: AlertLimits
) -> tuple[tuple[AlertEvent, ...], DedupeState]:
    """Decide what to send about the causes that clusters share, after a run.

    A cause goes on while one of its clusters has it. Its clusters that this run did not audit are believed to have it still,
    unless the cluster file no longer names them. A cluster that a run saw without it, and that has it again, is new.

    Returns:
        The events, and the state to keep once they are sent.
    """
    if run.ended and run.ended <= state.newest:
        return (), state
    unseen = set(run.known) - set(run.audited)
    causes = shared_causes(run.troubles, open_marks(state))
    matched, unmatched = _matched(state.open_alerts, [cause.condition for cause in causes])
    decided = [_goes_on(alert, _with_unseen(condition, alert, unseen), now, limits) for alert, condition in matched]
    decided += [_begins(condition, state, now) for condition in unmatched]
    again = {alert.key for alert, _ in matched}
    for alert in state.open_alerts:
        if alert.key not in again:
            over = AlertEvent(change=AlertKind.RESOLVED, alert=alert, lasted=_lasted(alert, now))
            decided.append((alert, None if unseen & set(alert.condition.affected) else over))
    kept = tuple(alert for alert, event in decided if event is None or not _ends(event))
    return tuple(_in_order(decided)), replace(state, open_alerts=kept, newest=run.ended or state.newest)


def open_marks(state: DedupeState) -> frozenset[tuple[str, str]]:
    """Return the marks of the shared causes whose alerts are not over."""
    return frozenset(mark for alert in state.open_alerts for mark in alert.condition.findings)


def _with_unseen(condition: Condition, alert: OpenAlert, unseen: Collection[str]) -> Condition:
    before = (name for name in alert.condition.affected if name in unseen and name not in condition.affected)
    return replace(condition, affected=(*condition.affected, *before))


def _in_order(decided: Iterable[tuple[OpenAlert, AlertEvent | None]]) -> list[AlertEvent]:
    order = list(AlertKind)
    events = (event for _, event in decided if event)
    return sorted(events, key=lambda event: (order.index(event.change), -Severity[event.alert.severity]))


def partly_sent(before: DedupeState, after: DedupeState, unsent: Iterable[AlertEvent]) -> DedupeState:
    """Return what to keep while some of the events of an audit are not sent yet: with the next audit they will be.

    Args:
        before: the state before the audit.
        after: what `decide_alert` returned.
        unsent: events that `decide_alert` returned with it.
    """
    pending = {event.alert.key for event in unsent}
    alerts = [alert for alert in after.open_alerts if alert.key not in pending]
    return replace(before, open_alerts=(*alerts, *(alert for alert in before.open_alerts if alert.key in pending)))


def _with_verdict(event: AlertEvent, judged: str, failed: int) -> AlertEvent:
    if event.change is not AlertKind.AUDITED_AGAIN:
        return event
    return replace(event, before=f"{judged}, after {counted(failed, 'failed audit')}")


def _ends(event: AlertEvent) -> bool:
    return event.change in {AlertKind.RESOLVED, AlertKind.AUDITED_AGAIN}


def _matched(
    open_alerts: Sequence[OpenAlert], current: Sequence[Condition]
) -> tuple[list[tuple[OpenAlert, Condition]], list[Condition]]:
    """Pair conditions with their open alerts: the same kind, and the most failures in common, the same cause first."""
    pairs = [(alert, condition) for alert in open_alerts for condition in current if _overlap(alert.condition, condition)]
    pairs.sort(key=lambda pair: (pair[0].condition.cause != pair[1].cause, -_overlap(pair[0].condition, pair[1]), pair[0].since))
    matched: list[tuple[OpenAlert, Condition]] = []
    for alert, condition in pairs:
        if all(alert is not other and condition is not partner for other, partner in matched):
            matched.append((alert, condition))
    return matched, [condition for condition in current if all(condition is not partner for _, partner in matched)]


def _overlap(before: Condition, condition: Condition) -> int:
    if before.kind != condition.kind:
        return 0
    return 1 if condition.kind in {AUDIT, COVERAGE} else len(set(before.findings) & set(condition.findings))


def _with_others(alert: OpenAlert, condition: Condition, state: DedupeState) -> OpenAlert:
    """Return an alert with what the other ones named that a condition continues too: incidents that turn out to be one.

    As in the report (`worse_since`), which compares an incident with all that had one of its failures.
    """
    others = [other for other in state.open_alerts if other is not alert and _overlap(other.condition, condition)]
    named = dict.fromkeys([*alert.affected, *(name for other in others for name in other.affected)])
    worst = max((alert.severity, *(other.severity for other in others)), key=lambda name: Severity[name])
    return replace(alert, affected=tuple(named), severity=worst)


def _goes_on(alert: OpenAlert, condition: Condition, now: datetime, limits: AlertLimits) -> tuple[OpenAlert, AlertEvent | None]:
    # A cluster that recovered heard nothing of it while another one kept the cause open, and must hear of its next outage.
    before = alert.condition.affected if condition.kind == SHARED else alert.affected
    worse = worsening(condition.affected, condition.severity, before=before, worst=alert.severity)
    due = limits.remind is not None and now - datetime.fromisoformat(alert.sent) >= limits.remind
    after = replace(
        alert,
        condition=condition,
        affected=tuple(dict.fromkeys((*alert.affected, *(worse.joined if worse else ())))),
        severity=max(alert.severity, condition.severity, key=lambda name: Severity[name]),
        audits=alert.audits + 1,
        sent=now.isoformat(timespec="seconds") if worse or due else alert.sent,
    )
    if not worse and not due:
        return after, None
    if worse is None:
        return after, AlertEvent(change=AlertKind.STILL, alert=after, lasted=_lasted(alert, now))
    change = AlertKind.NEW if set(worse.joined) & set(alert.affected) else AlertKind.WORSE
    return after, AlertEvent(change=change, alert=after, lasted=_lasted(alert, now), worse=worse, compared=alert.sent)


def _begins(condition: Condition, state: DedupeState, now: datetime) -> tuple[OpenAlert, AlertEvent]:
    at = now.isoformat(timespec="seconds")
    key = hashlib.sha256(f"{condition.kind}\0{condition.cause}\0{condition.findings}\0{at}".encode()).hexdigest()[:12]
    alert = OpenAlert(key=key, condition=condition, affected=condition.affected, severity=condition.severity, since=at, sent=at)
    if condition.kind != AUDIT:
        return alert, AlertEvent(change=AlertKind.NEW, alert=alert, lasted=timedelta())
    before = f"last audited {moment(state.judged_at)}: {state.verdict}" if state.judged_at else "no earlier audit"
    return alert, AlertEvent(change=AlertKind.NOT_AUDITED, alert=alert, lasted=timedelta(), before=before)


def _absent(
    alert: OpenAlert, result: AuditResult, now: datetime, limits: AlertLimits
) -> Iterable[tuple[OpenAlert, AlertEvent | None]]:
    """End an alert whose condition is no longer seen, or keep it where the audit could not see."""
    document = result.document
    if result.is_blind:
        return [(alert, None)]
    if alert.condition.kind == AUDIT:
        return [(alert, AlertEvent(change=AlertKind.AUDITED_AGAIN, alert=alert, lasted=_lasted(alert, now)))]
    if document is None or not has_ended(alert.condition, document, limits):
        return [(replace(alert, audits=alert.audits + 1), None)]
    if _muted(alert.condition, document):
        return []  # its owner has accepted it, which is no repair
    return [(alert, AlertEvent(change=AlertKind.RESOLVED, alert=alert, lasted=_lasted(alert, now)))]


def _muted(condition: Condition, document: Report) -> bool:
    muted = {(f.code, f.resource.name) for f in document.findings if f.muted and f.status == "FAIL"}
    return any(finding in muted for finding in condition.findings)


def moment(at: str) -> str:
    """Return a time of ISO 8601 as people read it: 14 Sep 06:00 UTC."""
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%d %b %H:%M UTC").lstrip("0")


def _lasted(alert: OpenAlert, now: datetime) -> timedelta:
    return now - datetime.fromisoformat(alert.since)
