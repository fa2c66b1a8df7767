"""The report as Markdown, for a ticket, a chat or a wiki: the order of the page, and nothing that a cluster said as markup."""

import re
from collections.abc import Iterator, Sequence

from kafka_audit.cluster.answers.reads import observer_name
from kafka_audit.model import quoting
from kafka_audit.model.commands import Prose
from kafka_audit.model.report import CodeGroup, Report, ReportedIncident, ReportedStep, ReportedViews
from kafka_audit.model.text import clean, counted, our_line, start_upper
from kafka_audit.report import remedies, state, unknowns
from kafka_audit.report.impacts import who_is_hurt
from kafka_audit.report.left_behind import left_behind
from kafka_audit.report.on_its_way import SHOWN, progress_lines, shown_rows
from kafka_audit.report.parties import agreement, matrix
from kafka_audit.report.parties.quorum import quorum_text
from kafka_audit.report.parties.views import NOT_ASKED, who
from kafka_audit.report.text import CANDIDATE, LIFECYCLE, candidate_text
from kafka_audit.report.what_if.next_failure import loss_columns, shown_losses, undecided_names
from kafka_audit.report.worsening import lifecycle_text, since_text

MOST_FINDINGS = 300
"""Findings that are listed; findings.json has them all."""

_MOST_READS = 50
_PICTURE_WIDTH = 100
# A colon only where a link or a face could begin, a dot where an address without one does; other addresses stay readable.
_SPECIAL = re.compile(r"[\\*_\[\]#|~@$]|:(?=//|[\w+-]+:)|(?<=\bwww)\.", re.IGNORECASE)
# GitHub and GitLab look for these in what is rendered, where a backslash is removed: only code spans prevent mentions.
_CALLING = re.compile(r"(?<!\w)((?:@(?=[A-Za-z0-9])|[#!](?=\d))[\w/@#!-]*)")
_CODE = re.compile(r"`([^`\n]{1,4000})`")


def markdown_report(document: Report) -> str:
    """Return the report of a `findings.json`, ending in a newline."""
    return "\n".join(_lines(document)).rstrip("\n") + "\n"


def escaped(value: object, limit: int = 1000) -> str:
    """Return a string as Markdown shows it: no character of it is markup, a link or a mention."""
    pieces = _CALLING.split(our_line(value, limit))
    return "".join(f"`{piece}`" if number % 2 else _escaped(piece) for number, piece in enumerate(pieces))


def _escaped(piece: str) -> str:
    shown = piece.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\g<0>", shown).replace("`", "\\`")


def markdown_prose(value: str) -> str:
    """Return sentences of ours with the commands between their backticks as code."""
    reported = " ".join(value.split("\n"))
    pieces = _CODE.split(reported)
    most = remedies.LONGEST_PARAGRAPH
    return "".join(f"`{our_line(piece, most)}`" if number % 2 else escaped(piece, most) for number, piece in enumerate(pieces))


def _lines(document: Report) -> Iterator[str]:
    coverage = document.coverage
    yield f"# {escaped(state.state_of_report(document).sentence)}"
    yield ""
    yield f"**{escaped(document.cluster)}**, collected {escaped(document.finished_at or 'at an unknown time')},"
    yield f"{coverage.answered} of {coverage.asked} reads answered, snapshot `{clean(document.snapshot_id)}`."
    yield from _origin(document)
    yield from _in_brief(document.incidents)
    for incident in document.incidents:
        yield from _incident(incident, document)
    if not document.incidents:
        yield from _agreed(document)
    for ended in document.resolved_incidents:
        yield from ("", f"− resolved: {escaped(ended.headline)} ({ended.cause})")  # noqa: RUF001 -- the sign of the page
    for unjudged in document.incomparable_incidents:
        yield from ("", f"Still open (not all of it was checked): {escaped(unjudged.headline)} ({unjudged.cause})")
    yield from _on_its_way(document)
    if document.quorum:
        yield from ("", f"**Metadata quorum:** {escaped(quorum_text(document.quorum))}")
    picture = matrix.matrix_lines(document.matrix, _PICTURE_WIDTH)
    if picture:
        yield from ("", "## Views and reachability", "", "```text", *(line.replace("`", "'") for line in picture), "```")
        yield from ("", *(f"- {escaped(line)}" for _, line in matrix.in_words(document.matrix)))
    yield from _views(document.views)
    yield from _findings(document)
    yield from _left_behind(document)
    yield from _next_failure(document)
    yield from _coverage(document)


def _in_brief(incidents: Sequence[ReportedIncident]) -> Iterator[str]:
    """Yield each incident with since when, who is hurt and what to do first, where there are several."""
    several = incidents if len(incidents) > 1 else ()
    yield from ("", f"## {len(several)} incidents", "") if several else ()
    for number, incident in enumerate(several, 1):
        hurt = markdown_prose(who_is_hurt(incident.impacts) or incident.impact)
        since = escaped(start_upper(since_text(incident)))
        command = remedies.command_to_see(incident)
        first = f"`{our_line(command, 1000)}`" if command else escaped(remedies.step_without_command(incident))
        yield f"{number}. **{incident.severity}** {escaped(incident.headline)}. {since}. {hurt} {first}".rstrip()


def _on_its_way(document: Report) -> Iterator[str]:
    rows = shown_rows(document.progress)
    if rows:
        yield from ("", "## On its way", "", "| | What | Since |", "|---|---|---|")
    for line in progress_lines(rows[:SHOWN]):
        yield f"| `{line.bar}` {line.word} | {escaped(line.text)} | {escaped(line.note)} |"
    more = len(rows[SHOWN:]) + document.progress_omitted
    if more:
        yield from ("", f"and {more} more, in findings.json.")


def _agreed(document: Report) -> Iterator[str]:
    facts = agreement.agreed(document)
    yield from ("", "## Asked, and found to agree", "") if facts else ()
    for fact in facts:
        yield f"- **{fact.title}.** {escaped(fact.text)}{f' ({escaped(fact.source)})' if fact.source else ''}."


def _left_behind(document: Report) -> Iterator[str]:
    found = left_behind(document)
    yield from ("", "## Left behind", "") if found else ()
    yield from (f"- {escaped(row.message)} ({row.code}). {escaped(row.breaks)} {_sentences(row.remove)}" for row in found)


def _next_failure(document: Report) -> Iterator[str]:
    found = document.next_failure
    if found is None:
        return
    yield from ("", "## The next failure", *_origin(document), "", f"{escaped(found.sentence)}.")
    shown = shown_losses(found)
    if shown.unsafe:
        heads = loss_columns(found)
        yield from ("", f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}")
        yield from (f"| {' | '.join(map(escaped, cells[: len(heads)]))} |" for cells in shown.unsafe)
    if shown.left_out:
        yield from ("", f"and {shown.left_out} more, in findings.json.")
    for way in found.raises_margin:
        yield from ("", f"{escaped(way.text)}.", "", *quoting.markdown_block(remedies.step_lines(way)))
    if shown.undecided or found.not_known:
        yield ""
    if shown.undecided:
        yield f"- ? {counted(shown.undecided_losses, 'loss', 'losses')} not decided: {escaped(undecided_names(shown))}"
    yield from (f"- ? {escaped(one.what)}. Needed: {markdown_prose(one.needs)}." for one in found.not_known)


def _origin(document: Report) -> Iterator[str]:
    if note := remedies.origin_note(document):
        yield from ("", f"> {escaped(note)}")


def _incident(incident: ReportedIncident, document: Report) -> Iterator[str]:
    yield from ("", f"## {incident.severity}: {escaped(incident.headline)}", "")
    now = " ".join(f"{who_is_hurt(incident.impacts)} {incident.impact}".split())
    yield f"{incident.cause}, {escaped(lifecycle_text(incident))}, {escaped(since_text(incident))}. {markdown_prose(now)}"
    yield from ("", f"**{incident.confidence.capitalize()}.** {markdown_prose(incident.confidence_why)}")
    yield from _steps(incident, document)
    yield from ("", "### Evidence", "")
    yield from (f"- for, {escaped(line.observer)}: {markdown_prose(line.text)}" for line in incident.evidence_for)
    yield from (f"- against, {escaped(view.observer)}: {markdown_prose(view.text)}" for view in incident.evidence_against)
    yield from (f"- ? {markdown_prose(text)}" for text in incident.not_known)
    if incident.candidates:
        yield from ("", "### Candidates", "")
        yield from (f"- {CANDIDATE[one.state]} {markdown_prose(candidate_text(one))}" for one in incident.candidates)
    yield from _explained(incident.groups)


def _steps(incident: ReportedIncident, document: Report) -> Iterator[str]:
    yield from ("", "### Remediation", *_origin(document))
    numbered = [step for step in incident.remediation if step.kind != "do_not"]
    for number, step in enumerate(numbered, 1):
        cost = f" Cost: {markdown_prose(step.cost)}" if step.cost else ""
        doubt = f", {remedies.DECIDE_FIRST}" if remedies.waits_for_a_decision(step, incident) else ""
        yield from ("", f"{number}. **{remedies.STEPS[step.kind]}{doubt}.** {_step_text(step)}{cost}")
        if step.commands:
            yield from ("", *(f"   {line}" for line in quoting.markdown_block(remedies.step_lines(step))))
    for step in incident.remediation:
        if step.kind == "do_not":
            yield from ("", f"Do not {_step_text(step)}")


def _explained(groups: Sequence[CodeGroup]) -> Iterator[str]:
    yield from ("", "### Explained findings", "") if groups else ()
    for group in groups:
        more = f" and {group.findings - len(group.first)} more" if group.findings > len(group.first) else ""
        places = ", ".join(escaped(place, 80) for place in group.first)
        number = counted(group.findings, "finding")
        yield f"- {group.code} {escaped(group.name.replace('_', ' '))}: {number}, {places}{more}"


def _step_text(step: ReportedStep) -> str:
    return _sentences(remedies.step_text(step))


def _sentences(text: str | Prose) -> str:
    shown = quoting.written(text, words=markdown_prose, span=quoting.markdown_span, line=quoting.markdown_span)
    return " ".join(shown.split("\n"))


def _views(views: ReportedViews) -> Iterator[str]:
    if len(views.columns) < 2:  # noqa: PLR2004 -- one column is agreement
        return
    yield from ("", "## Views, side by side", "")
    yield f"| | {' | '.join(escaped(who(column.observers)) for column in views.columns)} |"
    yield "|---" * (len(views.columns) + 1) + "|"
    for number, question in enumerate(views.rows):
        first = views.columns[0].values[number]
        listed_rows = [
            f"{'' if c.values[number] in {first, NOT_ASKED} else '≠ '}{escaped(c.values[number], 120)}" for c in views.columns
        ]
        yield f"| {escaped(question)} | {' | '.join(listed_rows)} |"


def _findings(document: Report) -> Iterator[str]:
    inside = document.incident_numbers
    open_findings = (finding for finding in document.findings if finding.status in {"FAIL", "UNKNOWN"})
    shown = [finding for finding in open_findings if finding.fingerprint not in inside]
    yield from ("", "## Other findings" if inside else "## Findings", "")
    if not shown:
        yield "None."
        return
    yield from ("| Severity | Check | Where | What | Since |", "|---|---|---|---|---|")
    for finding in shown[:MOST_FINDINGS]:
        severity = finding.severity if finding.status == "FAIL" else "? not known"
        has_past = finding.status == "FAIL" or finding.lifecycle in {"resolved", "incomparable"}
        since = ", ".join(
            part for part in (LIFECYCLE[finding.lifecycle] if has_past else "", "muted" if finding.muted else "") if part
        )
        name, message = escaped(finding.resource.name, 160), escaped(finding.message, 600)
        yield f"| {severity} | {finding.code} | {name} | {message} | {since} |"
    if len(shown) > MOST_FINDINGS:
        yield from ("", f"and {counted(len(shown) - MOST_FINDINGS, 'more finding')}, in findings.json.")


def _coverage(document: Report) -> Iterator[str]:
    unknown = document.coverage.unknown
    by_status = {"PASS": "pass", "FAIL": "fail", "UNKNOWN": "not known", "NOT_APPLICABLE": "not applicable"}
    reported = ", ".join(f"{getattr(document.counts, status)} {word}" for status, word in by_status.items())
    yield from ("", "## Coverage", "")
    yield f"{reported}."
    yield ""
    for shown, words in [unknowns.trusted_hosts_advice(document)] if unknowns.trusted_hosts_advice(document) else []:
        yield f"- ? no login was tried at brokers that the cluster file does not trust. Needed: `{shown}` {words}."
    for read in unknown[:_MOST_READS]:
        needs = f" Needed: {escaped(read.needs)}." if read.needs and not unknowns.untrusted_host(read) else ""
        observer, operation = escaped(observer_name(read.observer)), escaped(read.operation)
        yield f"- ? {observer}, {operation}: {escaped(read.error, 300)}.{needs}"
    if len(unknown) > _MOST_READS:
        yield f"- ? and {counted(len(unknown) - _MOST_READS, 'more read')}, in findings.json"
    yield from (f"- not covered: {escaped(text)}" for text in document.never_asked)
    yield from (f"- ? a damaged snapshot was skipped: {escaped(text)}" for text in document.passed_over)
