"""The terminal page: the headline first, then WHY, DO, the matrix, single findings, and NOT KNOWN."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from kafka_audit.model.finding import CHANGES, Resource, Severity
from kafka_audit.model.report import Report, ReportedFinding, ReportedIncident, ReportedStep
from kafka_audit.report import remedies, unknowns
from kafka_audit.report.parties import agreement, matrix, reach
from kafka_audit.report.parties.quorum import quorum_text
from kafka_audit.report.text import (
    CANDIDATE,
    LIFECYCLE,
    Paint,
    candidate_text,
    clean,
    clean_prose,
    counted,
    our_line,
    remedy_text,
    wrap,
)
from kafka_audit.report.what_if.next_failure import next_failure_lines
from kafka_audit.report.worsening import lifecycle_text

_INDENT = " " * 10
_FIRST = 10
"""Lines of a long list that are shown; the rest is counted, and is in findings.json."""

_ALIKE = 3
"""Results of one check that are listed one by one."""

_STEP = {"see": "see it yourself (reads only)", "quick": "quick", "lasting": "lasting", "prove": "prove it"}


def terminal_report(document: Report, *, width: int, color: bool) -> str:
    """Return the page of one audit, ending in a newline. `document` is what `build_document` returned.

    Commands are never wrapped; everything else keeps to `width` columns.
    """
    page = _AuditPage(document, max(width, 60), Paint(on=color))
    return "\n".join(line.rstrip() for line in page.lines()).rstrip("\n") + "\n"


def incident_details(document: Report, incident: ReportedIncident, *, width: int) -> str:
    """Return what the page says below an incident's headline: how sure, who suffers, why, what to do. Plain, for messages."""
    return "\n".join(_AuditPage(document, max(width, 60), Paint(on=False)).reasons(incident))


class _AuditPage:
    """One rendering; methods yield lines."""

    def __init__(self, document: Report, width: int, paint: Paint) -> None:
        self.document = document
        self.width = width
        self.paint = paint
        in_incidents = document.incident_numbers
        failed = [f for f in document.findings if f.status == "FAIL"]
        self.alone = [f for f in failed if f.fingerprint not in in_incidents and not f.muted]
        self.muted = [f for f in failed if f.muted]

    def lines(self) -> Iterator[str]:
        yield from self.head()
        yield ""
        for incident in self.document.incidents:
            yield from self.incident(incident)
            yield ""
        if not self.document.incidents:
            yield from self.no_incident()
            yield ""
        tables = (self.quorum, self.picture, self.reach_table)
        for block in (*tables, self.on_their_own, self.next_failure, self.earlier, self.not_known, self.never_asked):
            shown = list(block())
            if shown:
                yield from shown
                yield ""
        yield from self.foot()

    def head(self) -> Iterator[str]:
        coverage = self.document.coverage
        asked_at = self.document.finished_at
        when = datetime.fromisoformat(asked_at).strftime("%d %b %Y %H:%M UTC").lstrip("0") if asked_at else "time not known"
        parts = [
            counted(matrix.broker_count(self.document.matrix), "broker"),
            f"{coverage.answered} of {coverage.asked} reads answered",
        ]
        if self.document.counts.UNKNOWN:
            parts.append(f"{counted(self.document.counts.UNKNOWN, 'check')} not known")
        name = clean(self.document.cluster)
        plain = f"{name}  {when}  {', '.join(parts)}"
        yield from (line.replace(name, self.paint("bold", name), 1) for line in wrap(plain, self.width))
        yield from self.origin()

    def incident(self, incident: ReportedIncident) -> Iterator[str]:
        severity = incident.severity
        lines = list(wrap(our_line(incident.headline), self.width, severity.ljust(len(_INDENT)), _INDENT))
        yield lines[0].replace(severity, self.paint(severity, severity), 1)
        yield from lines[1:]
        yield from self.reasons(incident)

    def reasons(self, incident: ReportedIncident) -> Iterator[str]:
        how = f"{incident.cause}, {incident.confidence}, {lifecycle_text(incident)}. {incident.confidence_why}"
        yield from wrap(clean_prose(how), self.width, _INDENT)
        yield from wrap(clean_prose(f"{incident.impact} {self.explained(incident)}".strip()), self.width, _INDENT)
        before = [e.text for e in incident.evidence_for if e.observer == CHANGES]
        why = [(self.paint("good", "+"), e) for e in incident.evidence_for if e.observer != CHANGES]
        why += [("-", e) for e in incident.evidence_against]
        yield from self.section("WHY")
        for sign, evidence in why:
            yield from self.signed(sign, our_line(f"{evidence.observer}: {evidence.text}", 1000))
        for text in incident.not_known:
            yield from self.signed(self.paint("unknown", "?"), text)
        if incident.candidates:
            yield from self.section("CANDIDATES")
        for candidate in incident.candidates:
            yield from self.signed(CANDIDATE[candidate.state], candidate_text(candidate))
        if before:
            yield from self.section("CHANGED BEFORE IT BROKE")
            for text in before:
                yield from wrap(clean_prose(text), self.width, "    ")
        yield from self.section("DO")
        yield from self.origin("    ")
        yield from self.steps(incident.remediation)

    def origin(self, indent: str = "") -> Iterator[str]:
        if note := remedies.origin_note(self.document):
            yield from (f"{indent}{self.paint('unknown', line)}" for line in wrap(note, self.width - len(indent), "? ", "  "))

    def explained(self, incident: ReportedIncident) -> str:
        groups = incident.groups
        if len(groups) < 2:  # noqa: PLR2004 -- a cause alone explains nothing else
            return ""
        reported = ", ".join(f"{group.findings} {group.code}" for group in groups)
        return f"Explains {counted(sum(group.findings for group in groups), 'finding')}: {reported}."

    def section(self, title: str) -> Iterator[str]:
        yield f"  {self.paint('bold', title)}"

    def signed(self, sign: str, text: str) -> Iterator[str]:
        lines = list(wrap(clean_prose(text, remedies.LONGEST_PARAGRAPH), self.width, "    @ ", "      "))
        yield lines[0].replace("@", sign, 1)
        yield from lines[1:]

    def steps(self, steps: Sequence[ReportedStep]) -> Iterator[str]:
        numbered = [step for step in steps if step.kind != "do_not"]
        for number, step in enumerate(numbered, 1):
            text = remedy_text(remedies.step_text(step))
            text = text if step.kind == "see" else f"{_STEP[step.kind]}: {text}"
            yield from wrap(text, self.width, f"    {number}  ", "       ")
            yield from (f"         {line}" for line in remedies.step_lines(step))
            if step.cost:
                yield from wrap(clean_prose(f"Cost: {step.cost}"), self.width, "       ")
        for step in steps:
            if step.kind == "do_not":
                yield from wrap(f"Do not {remedy_text(remedies.step_text(step))}", self.width, "    ")

    def no_incident(self) -> Iterator[str]:
        coverage = self.document.coverage
        worst = max((Severity[f.severity] for f in self.alone), default=Severity.INFO)
        if not coverage.answered:
            verdict = self.paint("unknown", f"Not judged: 0 of {coverage.asked} reads answered")
        elif worst > Severity.LOW:
            verdict = f"No incident: {counted(len(self.alone), 'finding')}, at most {worst.name}"
        else:
            verdict = self.paint("good", "Clear: no failure above LOW")
        yield verdict
        counts = self.document.counts
        reported = f"Results: {counts.PASS} pass, {counts.FAIL} fail, {counts.UNKNOWN} not known"
        reported = f"{reported}, {counts.NOT_APPLICABLE} not applicable. No unmuted failure of severity HIGH or above."
        yield from wrap(reported, self.width)
        facts = agreement.agreed(self.document)
        yield from ("", self.paint("bold", "ASKED, AND FOUND TO AGREE")) if facts else ()
        for fact in facts:
            text = f"{fact.title}: {fact.text}{f' ({fact.source})' if fact.source else ''}."
            yield from (f"  {line}" for line in wrap(our_line(text, 1000), self.width - 2, "+ ", "  "))

    def quorum(self) -> Iterator[str]:
        quorum = self.document.quorum
        if quorum is not None:
            lines = wrap(quorum_text(quorum), self.width, "  Metadata quorum: ", "  ")
            yield from (line if quorum.leader is not None else self.paint("unknown", line) for line in lines)

    def picture(self) -> Iterator[str]:
        lines = matrix.matrix_lines(self.document.matrix, self.width - 2)
        cells = {cell for row in matrix.matrix_rows(self.document.matrix) for cell in matrix.worst_cells(row)}
        quiet = not self.document.incidents and cells <= {".", "-"}
        if lines and not quiet:
            yield from (f"  {line}" for line in lines)

    def reach_table(self) -> Iterator[str]:
        yield from (f"  {line}" for line in reach.reach_lines(self.document.reach, self.width - 2))

    def on_their_own(self) -> Iterator[str]:
        if self.alone:
            yield self.paint("bold", "OTHER FINDINGS")
        by_code: dict[tuple[str, str], list[ReportedFinding]] = {}
        for finding in self.alone:
            by_code.setdefault((finding.severity, finding.code), []).append(finding)
        for (severity, code), group in by_code.items():
            shown = group if len(group) <= _FIRST else group[:_ALIKE]
            for finding in shown:
                place = clean(finding.resource.name)
                text = f"{code} {LIFECYCLE[finding.lifecycle]}  {place}: {our_line(finding.message, 1000)}"
                yield from self.labelled(severity, text)
            if len(group) > len(shown):
                topics = {resource.topic for f in group if (resource := Resource.of(f.resource.name)).partition is not None}
                of = f" of {counted(len(topics), 'topic')}" if topics else ""
                yield f"{_INDENT}and {len(group) - len(shown)} more of {code}{of}, in findings.json"
        if self.muted:
            yield f"{_INDENT}{counted(len(self.muted), 'finding')} muted"

    def labelled(self, severity: str, text: str) -> Iterator[str]:
        lines = list(wrap(text, self.width, severity.ljust(len(_INDENT)), _INDENT))
        yield lines[0].replace(severity, self.paint(severity, severity), 1)
        yield from lines[1:]

    def next_failure(self) -> Iterator[str]:
        found = self.document.next_failure
        if found is not None:
            yield self.paint("bold", "THE NEXT FAILURE")
            yield from self.origin("  ")
            yield from next_failure_lines(found, self.width)

    def earlier(self) -> Iterator[str]:
        for incident in self.document.resolved_incidents:
            yield from wrap(f"RESOLVED  {our_line(incident.headline)} ({incident.cause})", self.width, "", _INDENT)
        for incident in self.document.incomparable_incidents:
            text = f"OPEN, UNKNOWN NOW  {our_line(incident.headline)} ({incident.cause})"
            yield from wrap(text, self.width, "", _INDENT)

    def not_known(self) -> Iterator[str]:
        asked = unknowns.questions(self.document)
        if asked:
            yield self.paint("unknown", "NOT KNOWN")
        for question in asked:
            for number, text in enumerate(question.lines):
                yield from wrap(text, self.width, "    " if number and question.to_know else "  ? ", "    ")
            if question.to_know:
                yield from wrap(f"Needed: {question.to_know}.", self.width, "    ")

    def never_asked(self) -> Iterator[str]:
        if self.document.incidents:
            return
        yield self.paint("bold", "NOT COVERED")
        for text in self.document.never_asked:
            yield from wrap(our_line(text, 500), self.width, "  – ", "    ")  # noqa: RUF001 -- the sign for "not asked"

    def foot(self) -> Iterator[str]:
        counts = self.document.lifecycle_counts
        reported = ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "no failures, now or before"
        previous = self.document.previous_snapshot_id
        compared = f"compared with {clean(previous)}" if previous else "no earlier snapshot"
        yield from wrap(f"{reported}; {compared}", self.width)
        for why in self.document.passed_over:
            yield from wrap(f"a damaged snapshot was passed over, so later changes are unknown: {clean(why, 1000)}", self.width)
