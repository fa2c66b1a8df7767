"""Remedies in a report: each command, setting and name is an object, beside the text that can be copied.

Formats write a remedy from these values. A report without them was written before there were any: its text stands.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from kafka_audit.model import quoting
from kafka_audit.model.commands import Code, Command, CommentLine, Line, Part, Prose, SettingLine
from kafka_audit.model.finding import Confidence
from kafka_audit.model.report import (
    MarginStep,
    PlannedChange,
    RemedyPart,
    Report,
    ReportedFinding,
    ReportedIncident,
    ReportedStep,
    SettingValue,
)
from kafka_audit.model.text import our_line

_Step = ReportedStep | MarginStep | PlannedChange

LONGEST_PARAGRAPH = 20_000
"""Characters of a paragraph of a remedy: sentences of ours, with values that are bounded. None of ours is cut."""

_LONGEST_LINE = 4000
OF_A_BUNDLE = (
    "Not by this kafka-audit: the report was imported from a bundle, whose writer chose its steps, commands and texts. Run none"
    " of them. For steps of this kafka-audit, judge the snapshot again (kafka-audit diff)."
)


STEPS: Mapping[str, str] = MappingProxyType(
    {"see": "Diagnose (read-only)", "quick": "Quick fix", "lasting": "Permanent fix", "do_not": "Do not", "prove": "Verify"}
)
"""Titles of the kinds of steps, everywhere."""


def origin_note(report: Report) -> str:
    """Return what is to be read beside the steps of a report that is not ours, "" for one that is."""
    return OF_A_BUNDLE if report.origin else ""


def reported_parts(parts: Iterable[Part]) -> tuple[RemedyPart, ...]:
    """Return commands, settings, comments, names and text as a report has them."""
    return tuple(map(_reported, parts))


def _reported(part: Part) -> RemedyPart:
    match part:
        case str():
            return RemedyPart(text=part)
        case Code():
            return RemedyPart(code=part.text)
        case CommentLine():
            return RemedyPart(remark=part.words)
        case Command():
            return RemedyPart(command=part.stages, withheld=part.withheld, own_line=part.own_line)
        case SettingLine():
            return RemedyPart(setting=SettingValue(key=part.key, value=part.value, file=part.file), withheld=part.withheld)


def finding_remedy(finding: ReportedFinding) -> str | Prose:
    """Return what to do on a finding of a report."""
    return _prose(finding.remedy) or finding.remediation


def step_text(step: ReportedStep | PlannedChange) -> str | Prose:
    """Return the sentences of a step of a report."""
    parts = step.parts if isinstance(step, ReportedStep) else ()
    return _prose(parts or ()) or step.text


def step_lines(step: _Step) -> list[str]:
    """Return the commands, settings and comments of a step, one line each, as they can be copied."""
    held = _lines(step)
    return [*quoting.lines(held)] if held else [our_line(line, _LONGEST_LINE) for line in step.commands]


def first_command(step: ReportedStep) -> str:
    """Return the first command of a step, "" without one; a comment is none."""
    commands = [*quoting.lines(line for line in _lines(step) if isinstance(line, Command))] or step_lines(step)
    return next((line for line in commands if not line.startswith("#")), "")


DECIDE_FIRST = "once the cause is decided"
"""What a report says of the repair of a cause that is only suspected."""


def waits_for_a_decision(step: ReportedStep, incident: ReportedIncident) -> bool:
    """Return whether a step repairs what may not be the cause: a restart that was for nothing is the least that it costs."""
    return step.kind in {"quick", "lasting"} and incident.confidence == Confidence.SUSPECTED


def command_to_see(incident: ReportedIncident) -> str:
    """Return the first command that shows the fault and changes nothing, with the comment that says where; "" without one."""
    for step in incident.remediation:
        if step.kind == "see" and (command := first_command(step)):
            above, _, _ = "\n".join(step_lines(step)).partition(command)
            where = next((line for line in reversed(above.splitlines()) if line.startswith("# on ")), "")
            return f"{command}  {where}".rstrip()
    return ""


def step_without_command(incident: ReportedIncident) -> str:
    """Return the first repair of an incident that no command shows, "" for another: some causes are in files alone."""
    first = next((step for step in incident.remediation if step.kind in {"quick", "lasting"}), None)
    if first is None or command_to_see(incident):
        return ""
    doubt = f", {DECIDE_FIRST}" if waits_for_a_decision(first, incident) else ""
    text = our_line(" ".join(first.text.split()), _LONGEST_LINE)
    return f"{STEPS[first.kind]}{doubt}: {text}"


def _lines(step: _Step) -> tuple[Line, ...]:
    return tuple(part for part in _prose(step.lines) if isinstance(part, Command | SettingLine | CommentLine))


def _prose(parts: tuple[RemedyPart, ...]) -> Prose:
    """Return the parts, none where one is of a kind that only a later version knows: the text beside them has it."""
    return () if RemedyPart() in parts else tuple(map(_part, parts))


def _part(part: RemedyPart) -> Part:
    if part.command:
        return Command(stages=part.command, withheld=part.withheld, own_line=part.own_line)
    if part.setting:
        shown = part.setting
        return SettingLine(key=shown.key, value=shown.value, file=shown.file, withheld=part.withheld)
    if part.remark:
        return CommentLine(words=part.remark)
    return Code(text=part.code) if part.code else part.text or ""
