"""What a report comes down to: one word, one mark and one sentence, the same on every page."""

from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

from kafka_audit.model.finding import Severity, SeverityName, Status
from kafka_audit.model.report import Count, Report
from kafka_audit.model.text import counted, our_line
from kafka_audit.report.text import utc_text

INCIDENT, UNJUDGED, QUIET = "Incident", "Not judged", "No incident"
GROUPS = (INCIDENT, UNJUDGED, QUIET)
"""In the order of urgency."""


@dataclass(frozen=True, kw_only=True)
class CheckState:
    """`mark` is a severity in lower case, `ok`, `unknown` or `na`; `sentence` is the headline."""

    group: str
    mark: str
    word: str
    note: str
    sentence: str


class Basis(Struct, frozen=True, kw_only=True):
    """What of a report decides its state: the worst incident and how many there are, and unmuted failures with their worst.

    `since` is when the first audit that found the worst incident ended; None where it is new, or not known.
    """

    asked: Count
    answered: Count
    incidents: Count
    headline: str
    severity: SeverityName | Literal[""]
    lifecycle: str
    failed: Count
    worst: SeverityName
    since: str | None = None


def basis(document: Report) -> Basis:
    """Return what decides the state of a report."""
    first = document.incidents[0] if document.incidents else None
    failed = [Severity[f.severity] for f in document.findings if f.status is Status.FAIL and not f.muted]
    return Basis(
        asked=document.coverage.asked,
        answered=document.coverage.answered,
        incidents=len(document.incidents),
        headline=first.headline if first else "",
        severity=first.severity if first else "",
        lifecycle=first.lifecycle if first else "",
        failed=len(failed),
        worst=max(failed, default=Severity.INFO).word,
        since=first.first_seen if first and first.audits > 1 else None,
    )


def state_of_report(document: Report, min_coverage: float = 1.0) -> CheckState:
    """Return the state that a `findings.json` describes; see `state_of_basis`."""
    return state_of_basis(basis(document), min_coverage)


def state_of_basis(basis: Basis, min_coverage: float) -> CheckState:
    """Return the state that follows from what decides it.

    Args:
        basis: of one report.
        min_coverage: share of the asked reads, 0 to 1, below which silence is no good news.
    """
    if basis.incidents:
        return _incident(basis)
    if basis.answered < min_coverage * basis.asked or not basis.answered:
        sentence = f"Not judged: only {basis.answered} of {basis.asked} reads were answered, and none of them shows an incident"
        return CheckState(group=UNJUDGED, mark="unknown", word="not judged", note="too few reads answered", sentence=sentence)
    worst = Severity[basis.worst]
    if worst > Severity.LOW:
        note = counted(basis.failed, "finding")
        sentence = f"No incident: {note}, at most {worst.name}"
        return CheckState(group=QUIET, mark=worst.name.lower(), word="no incident", note=note, sentence=sentence)
    sentence = "Clear: no failure above LOW"
    return CheckState(group=QUIET, mark="ok", word="clear", note="no failure above LOW", sentence=sentence)


def _incident(basis: Basis) -> CheckState:
    more = basis.incidents - 1
    when = utc_text(basis.since, "%d %b %H:%M")
    note = f"{basis.severity.lower()}, {f'since {when}' if when else basis.lifecycle}"
    headline = our_line(basis.headline) + (f"; {counted(more, 'more incident')}" if more else "")
    return CheckState(group=INCIDENT, mark=basis.severity.lower(), word="incident", note=note, sentence=headline)
