"""The terminal page: all incidents in a few lines each, then the worst of them, the matrix, single findings, and NOT KNOWN.

The facts of an incident come in one order: what is broken, since when, who is hurt, what to do, why.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from kafka_audit.configuration.definitions.values import integer
from kafka_audit.model.finding import CHANGES, Resource, Severity
from kafka_audit.model.read_failure import CLOSED_BY_PEER, EdgeLayer, ReadFailure
from kafka_audit.model.report import Report, ReportedFinding, ReportedIncident, UnansweredRead
from kafka_audit.model.text import without_id
from kafka_audit.report import remedies, unknowns
from kafka_audit.report.impacts import who_is_hurt
from kafka_audit.report.left_behind import left_behind
from kafka_audit.report.on_its_way import progress_lines, shown_rows
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
    listing,
    our_line,
    ranges,
    remedy_text,
    start_upper,
    wrap,
)
from kafka_audit.report.what_if.next_failure import next_failure_lines
from kafka_audit.report.worsening import lifecycle_text, since_text

_INDENT = " " * 10
_FIRST = 10
"""Lines of a long list that are shown; the rest is counted, and is in findings.json."""

_ALIKE = 3
"""Results of one check that are listed one by one."""

_QUESTIONS = 4
"""Things that are needed to know more, which a page names that is not `full`."""

_SHORT = 5
"""Lines of evidence and codes of findings that a page shows which is not `full`."""


def terminal_report(document: Report, *, width: int, color: bool, full: bool = False) -> str:
    """Return the page of one audit, ending in a newline.

    Commands are never wrapped; everything else keeps to `width` columns. Only a `full` page has every incident with its evidence,
    and long lists to their end; another one has some 150 lines at most.
    """
    page = _AuditPage(document, max(width, 60), Paint(on=color), full=full)
    return "\n".join(line.rstrip() for line in page.lines()).rstrip("\n") + "\n"


def not_audited(document: Report, *, width: int) -> str:
    """Return what stands instead of a page where no broker answered, and none ever has: a wrong address is the likeliest."""
    unknown = document.coverage.unknown
    first: dict[str, UnansweredRead] = {}
    for read in unknown:
        first.setdefault(read.target or read.observer, read)
    found: dict[str, list[str]] = {}
    for place, read in first.items():
        failure = ReadFailure.of(read.reason or None, read.kind)
        text = read.error if failure is ReadFailure.NO_CREDENTIALS else read.kind
        found.setdefault(_ends(failure), []).append(f"{place} ({text})")
    ends = [how.format(listing(places, _ALIKE)) for how, places in found.items()] or ["nothing answers at any address"]
    lines = [f"Not audited: {'; '.join(ends)}. Nothing was judged."]
    needs = dict.fromkeys(read.needs for read in unknown if read.needs)
    check = "Check the address and the port. " if _NOTHING in found or _ANOTHER in found else ""
    lines += [f"{check}Needed: {listing(needs, _ALIKE)}."] if needs else []
    return "".join(f"{line}\n" for text in lines for line in wrap(our_line(text, 1000), max(width, 60)))


_NOTHING, _ANOTHER, _NAME = "nothing answers at {}", "no broker answers at {}", "this host cannot resolve {}"
_ENDS: Mapping[ReadFailure | EdgeLayer | None, str] = {
    **dict.fromkeys(CLOSED_BY_PEER, _ANOTHER),
    ReadFailure.NAME_UNKNOWN: _NAME,
    ReadFailure.NAME_LOOKUP_FAILED: _NAME,
    EdgeLayer.TLS: "no TLS session with {}",
    EdgeLayer.SASL: "no login at {}",
    EdgeLayer.IDENTITY: _ANOTHER,
    EdgeLayer.EFFECT: _ANOTHER,
}


def _ends(failure: ReadFailure) -> str:
    """Return how the reads at an address ended, as a sentence without a full stop."""
    return _ENDS.get(failure) or _ENDS.get(failure.layer, _NOTHING)


def incident_details(document: Report, incident: ReportedIncident, *, width: int) -> str:
    """Return what the page says below an incident's headline: how sure, who suffers, why, what to do. Plain, for messages."""
    return "\n".join(_AuditPage(document, max(width, 60), Paint(on=False), full=True).reasons(incident))


def incidents_in_brief(document: Report, *, width: int) -> str:
    """Return every incident with since when, who is hurt and what to do first, for a log; "" where there is none."""
    page = _AuditPage(document, max(width, 60), Paint(on=False), full=False)
    return "\n".join(page.in_brief(document.incidents))


def _node(finding: ReportedFinding) -> tuple[str, int] | None:
    """Return the kind and the id of the broker or controller that a finding is at; None where it is elsewhere."""
    at = Resource.of(finding.resource.name)
    if at.broker is not None:
        return "broker", at.broker
    node = integer(at.controller or "")
    return None if node is None else ("controller", node)


def _are_alike(group: Sequence[ReportedFinding]) -> bool:
    """Return whether findings at nodes say the same but for the id."""
    nodes = [_node(finding) for finding in group]
    return None not in nodes and len({without_id(f.message, node[1]) for f, node in zip(group, nodes, strict=True) if node}) == 1


class _AuditPage:
    """One rendering; methods yield lines."""

    def __init__(self, document: Report, width: int, paint: Paint, *, full: bool) -> None:
        self.document = document
        self.most = None if full else _SHORT
        self.width = width
        self.paint = paint
        in_incidents = document.incident_numbers
        failed = [f for f in document.findings if f.status == "FAIL"]
        self.alone = [f for f in failed if f.fingerprint not in in_incidents and not f.muted]
        self.muted = [f for f in failed if f.muted]

    def lines(self) -> Iterator[str]:
        yield from self.head()
        yield ""
        yield from self.all_incidents()
        for incident in self.document.incidents[: None if self.most is None else 1]:
            yield from self.incident(incident)
            yield ""
        if not self.document.incidents:
            yield from self.no_incident()
            yield ""
        tables = (self.on_its_way, self.quorum, self.picture, self.reach_table)
        for block in (
            self.earlier,
            *tables,
            self.on_their_own,
            self.left_behind,
            self.next_failure,
            self.not_known,
            self.never_asked,
        ):
            shown = list(block())
            if shown:
                yield from shown
                yield ""
        yield from self.foot()

    def head(self) -> Iterator[str]:
        coverage = self.document.coverage
        asked_at = self.document.finished_at
        when = datetime.fromisoformat(asked_at).strftime("%d %b %Y %H:%M:%S UTC").lstrip("0") if asked_at else "time not known"
        parts = [
            matrix.brokers_text(self.document.matrix),
            f"{coverage.answered} of {coverage.asked} reads answered",
        ]
        if self.document.counts.UNKNOWN:
            parts.append(f"{counted(self.document.counts.UNKNOWN, 'result')} not known")
        name = clean(self.document.cluster)
        plain = f"{name}  {when}  {', '.join(parts)}"
        yield from (line.replace(name, self.paint("bold", name), 1) for line in wrap(plain, self.width))
        yield from self.origin()

    def all_incidents(self) -> Iterator[str]:
        """Yield each incident with since when, who is hurt and what to do first, where there are several."""
        every = self.document.incidents
        if len(every) < 2:  # noqa: PLR2004 -- one has its own block below
            return
        more = "" if self.most is None else f"  all of each: kafka-audit report {clean(self.document.snapshot_id)} --all"
        yield f"{self.paint('bold', f'{len(every)} INCIDENTS')}{more}"
        yield from self.in_brief(every)
        yield ""

    def in_brief(self, every: Sequence[ReportedIncident]) -> Iterator[str]:
        shown = every if self.most is None or len(every) <= _FIRST + 1 else every[:_FIRST]
        for number, incident in enumerate(shown, 1):
            yield from self.labelled(incident.severity, f"{number}. {our_line(incident.headline)}")
            yield from wrap(
                clean_prose(f"{start_upper(since_text(incident))}. {self.hurt(incident)}".strip()), self.width, _INDENT
            )
            if command := remedies.command_to_see(incident):
                yield f"{_INDENT}{command}"
            elif step := remedies.step_without_command(incident):
                yield from wrap(step, self.width, _INDENT)
        if len(shown) < len(every):
            yield f"{_INDENT}and {counted(len(every) - len(shown), 'more incident')}"

    def hurt(self, incident: ReportedIncident) -> str:
        return who_is_hurt(incident.impacts) or incident.impact.split(". ")[0].rstrip(".") + "." * bool(incident.impact)

    def incident(self, incident: ReportedIncident) -> Iterator[str]:
        if self.most is None or len(self.document.incidents) == 1:
            yield from self.labelled(incident.severity, our_line(incident.headline))
        else:
            yield self.paint("bold", "THE WORST")
            yield from self.labelled(incident.severity, our_line(incident.headline))
        yield from self.reasons(incident)

    def reasons(self, incident: ReportedIncident) -> Iterator[str]:
        """Yield since when, who is hurt, what to do, and why that is said."""
        now = f"{start_upper(since_text(incident))}. {who_is_hurt(incident.impacts)} {incident.impact}"
        yield from wrap(clean_prose(" ".join(now.split())), self.width, _INDENT)
        worse = f"; {lifecycle_text(incident)}" if incident.worse else ""
        how = f"{incident.cause}, {incident.confidence}{worse}. {incident.confidence_why} {self.explained(incident)}".strip()
        yield from wrap(clean_prose(how), self.width, _INDENT)
        yield from self.section("DO")
        yield from self.origin("    ")
        yield from self.steps(incident)
        yield from self.why(incident)

    def why(self, incident: ReportedIncident) -> Iterator[str]:
        before = [e.text for e in incident.evidence_for if e.observer == CHANGES]
        why = [(self.paint("good", "+"), e) for e in incident.evidence_for if e.observer != CHANGES]
        why += [("-", e) for e in incident.evidence_against]
        yield from self.section("WHY")
        for sign, evidence in why[: self.most]:
            yield from self.signed(sign, our_line(f"{evidence.observer}: {evidence.text}", 1000))
        if len(why[: self.most]) < len(why):
            yield f"      and {counted(len(why) - _SHORT, 'more line')}, with --all"
        for text in incident.not_known[: self.most]:
            yield from self.signed(self.paint("unknown", "?"), text)
        # A measured cause without a rival is what the headline says.
        alone = self.most is not None and [candidate.state for candidate in incident.candidates] == ["measured"]
        candidates = () if alone else incident.candidates
        if candidates:
            yield from self.section("CANDIDATES")
        ruled_out = [candidate for candidate in candidates if candidate.state == "ruled_out"]
        for candidate in candidates:
            if self.most is None or candidate.state != "ruled_out":
                yield from self.signed(CANDIDATE[candidate.state], candidate_text(candidate))
        if self.most is not None and ruled_out:
            named = listing((f"{candidate.fault} ({candidate.code})" for candidate in ruled_out), len(ruled_out))
            yield from self.signed(CANDIDATE["ruled_out"], f"Ruled out: {named}.")
        if before:
            yield from self.section("CHANGED BEFORE IT BROKE")
            for text in before[: self.most]:
                yield from wrap(clean_prose(text), self.width, "    ")

    def origin(self, indent: str = "") -> Iterator[str]:
        if note := remedies.origin_note(self.document):
            yield from (f"{indent}{self.paint('unknown', line)}" for line in wrap(note, self.width - len(indent), "? ", "  "))

    def explained(self, incident: ReportedIncident) -> str:
        others = [group for group in incident.groups if group.code != incident.cause]
        named = [
            f"{group.name.replace('_', ' ')} ({group.code}{f', {group.findings} findings' if group.findings > 1 else ''})"
            for group in others
        ]
        return f"Follows from it: {', '.join(named)}." if named else ""

    def section(self, title: str) -> Iterator[str]:
        yield f"  {self.paint('bold', title)}"

    def signed(self, sign: str, text: str) -> Iterator[str]:
        lines = list(wrap(clean_prose(text, remedies.LONGEST_PARAGRAPH), self.width, "    @ ", "      "))
        yield lines[0].replace("@", sign, 1)
        yield from lines[1:]

    def steps(self, incident: ReportedIncident) -> Iterator[str]:
        steps = incident.remediation
        numbered = [step for step in steps if step.kind != "do_not"]
        for number, step in enumerate(numbered, 1):
            text = remedy_text(remedies.step_text(step))
            if step.kind != "see":
                doubt = f", {remedies.DECIDE_FIRST}" if remedies.waits_for_a_decision(step, incident) else ""
                text = f"{remedies.STEPS[step.kind]}{doubt}: {text}"
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
        muted = ", muted ones aside" if self.muted else ""
        reported = f"{counted(counts.FAIL, 'smaller finding')}, {counted(counts.UNKNOWN, 'result')} without data"
        reported = f"{reported}, {counts.PASS} pass, {counts.NOT_APPLICABLE} not applicable."
        none = f"Nothing CRITICAL or HIGH{muted}. " if coverage.answered and worst <= Severity.MEDIUM else ""
        yield from wrap(f"{none}{reported}", self.width)
        facts = agreement.agreed(self.document)
        yield from ("", self.paint("bold", "ASKED, AND FOUND TO AGREE")) if facts else ()
        for fact in facts:
            text = f"{fact.title}: {fact.text}{f' ({fact.source})' if fact.source else ''}."
            yield from (f"  {line}" for line in wrap(our_line(text, 1000), self.width - 2, "+ ", "  "))

    def on_its_way(self) -> Iterator[str]:
        rows = shown_rows(self.document.progress)
        shown = rows if self.most is None else rows[:_FIRST]
        if rows:
            yield self.paint("bold", "ON ITS WAY")
        for line in progress_lines(shown):
            yield from wrap(f"{line.bar} {line.text} ({line.note}).", self.width, "  ", " " * 15)
        more = len(rows) - len(shown) + self.document.progress_omitted
        if more:
            yield f"  and {more} more, in findings.json"

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
        for (severity, code), group in list(by_code.items())[: None if self.most is None else 2 * self.most]:
            shown = group if self.most is None or (len(group) <= _ALIKE and not _are_alike(group)) else group[:1]
            for finding in shown:
                place = clean(finding.resource.name)
                text = f"{code} {LIFECYCLE[finding.lifecycle]}  {place}: {our_line(finding.message, 1000)}"
                yield from self.labelled(severity, text)
            if len(group) > len(shown):
                topics = {resource.topic for f in group if (resource := Resource.of(f.resource.name)).partition is not None}
                of = f" of {counted(len(topics), 'topic')}" if topics else ""
                yield f"{_INDENT}and {len(group) - len(shown)} more of {code}{of}{self.places(group[1:])}"
        if self.most is not None and len(by_code) > 2 * self.most:
            yield f"{_INDENT}and {counted(len(by_code) - 2 * self.most, 'more check')}, with --all"
        if self.muted:
            yield f"{_INDENT}{counted(len(self.muted), 'finding')} muted"

    def places(self, group: Sequence[ReportedFinding]) -> str:
        """Return at which other brokers or controllers a check fails alike; "" where it is about something else."""
        nodes = {node for finding in group if (node := _node(finding)) is not None}
        kinds = {kind for kind, _ in nodes}
        if len(kinds) != 1 or any(_node(finding) is None for finding in group):
            return ""
        return f": {kinds.pop()}{'s' * (len(nodes) > 1)} {ranges(number for _, number in nodes)}"

    def labelled(self, severity: str, text: str) -> Iterator[str]:
        lines = list(wrap(text, self.width, severity.ljust(len(_INDENT)), _INDENT))
        yield lines[0].replace(severity, self.paint(severity, severity), 1)
        yield from lines[1:]

    def left_behind(self) -> Iterator[str]:
        found = left_behind(self.document)
        if found:
            yield self.paint("bold", "LEFT BEHIND")
        for row in found[: self.most]:
            yield from wrap(
                f"{our_line(row.message, 300)} ({row.code}). {clean_prose(row.breaks)} {remedy_text(row.remove)}",
                self.width,
                "  - ",
                "    ",
            )
        if self.most is not None and len(found) > self.most:
            yield f"  and {len(found) - self.most} more, with --all"

    def next_failure(self) -> Iterator[str]:
        found = self.document.next_failure
        if found is not None:
            yield self.paint("bold", "THE NEXT FAILURE")
            yield from self.origin("  ")
            yield from next_failure_lines(found, self.width, self.most and 1)

    def earlier(self) -> Iterator[str]:
        for incident in self.document.resolved_incidents:
            text = f"RESOLVED  {our_line(incident.headline)} ({incident.cause}), open {since_text(incident)}"
            yield from wrap(text, self.width, "", _INDENT)
        for incident in self.document.incomparable_incidents:
            head = f"{our_line(incident.headline)} ({incident.cause})"
            text = f"STILL OPEN (not all of it was checked)  {head}, {since_text(incident)}"
            yield from wrap(text, self.width, "", _INDENT)

    def not_known(self) -> Iterator[str]:
        asked = unknowns.questions(self.document)
        most = None if self.most is None else _QUESTIONS
        if asked:
            yield self.paint("unknown", "NOT KNOWN")
        for question in asked[:most]:
            needed = f"Needed: {question.to_know}." if question.to_know else ""
            if self.most is not None:
                yield from wrap(f"{question.brief.rstrip('.')}. {needed}".rstrip(), self.width, "  ? ", "    ")
                continue
            for number, text in enumerate(question.lines):
                yield from wrap(text, self.width, "    " if number and needed else "  ? ", "    ")
            yield from wrap(needed, self.width, "    ") if needed else ()
        if most is not None and len(asked) > most:
            yield f"  ? and {counted(len(asked) - most, 'more question')}, with --all"

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
        yield from wrap(f"{clean(self.document.snapshot_id)}: {reported}; {compared}", self.width)
        for why in self.document.passed_over:
            yield from wrap(f"a damaged snapshot was passed over, so later changes are unknown: {clean(why, 1000)}", self.width)
