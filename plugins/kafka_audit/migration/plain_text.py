"""The reports before and after a change as plain text: the verdict first, then the blockers.

The question whether a change may begin is Markdown, as the UI of Airflow shows it, and short.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafka_audit.migration import sections
from kafka_audit.model.report import PlannedChange
from kafka_audit.model.text import clean, counted, listing, our_line
from kafka_audit.report.plain_text import markdown
from kafka_audit.report.remedies import LONGEST_PARAGRAPH, step_lines, step_text
from kafka_audit.report.text import clean_prose, remedy_text, wrap
from kafka_audit.report.verdicts import Line, Section

_INDENT = " " * 6
_MOST = 50
"""Lines of one section that are shown; the JSON has all."""


def before_change_text(report: Mapping[str, Any], *, width: int, kept: bool = False) -> str:
    """Return the report of the gate; `kept`: its snapshot is a baseline now."""
    lines = [
        *wrap(our_line(report["headline"], 500), width),
        "",
        f"Snapshot {clean(report['snapshot_id'])}{', the baseline for the comparison' if kept else ''}.",
    ]
    headings = ("BLOCKERS", "blockers"), ("WARNINGS", "warnings"), ("NOT KNOWN", "not_known"), ("NOTES", "information")
    for title, key in headings:
        lines += _section(title, [_item(item, width) for item in report[key]])
    states = sections.roll_states(report)
    lines += _section("WHILE IT IS ROLLED", [list(wrap(clean_prose(state), width, "    ")) for state in states])
    lines += _section("STEPS", [_step(number, step, width) for number, step in enumerate(sections.planned_changes(report), 1)])
    return "\n".join(lines) + "\n"


def after_change_text(report: Mapping[str, Any], *, width: int) -> str:
    """Return the comparison with the baseline."""
    snapshots = f"{clean(report['baseline'])} -> {clean(report['snapshot_id'])}"
    lines = [*wrap(our_line(report["headline"], 500), width), "", snapshots]
    lines += _section("NOT EXPECTED", [_change(change, width) for change in report["not_meant"]])
    lines += _section("MISSING", [list(wrap(clean_prose(sentence), width, "    ")) for sentence in report["not_done"]])
    lines += _section("NEW FAILURES", [_item({"source": "audit", **item}, width) for item in report["new"]])
    lines += _section("UNKNOWN NOW", [_item({"source": "audit", **item}, width) for item in report["not_known"]])
    lines += _section("EXPECTED", [_change(change, width) for change in report["meant"]])
    lines += _section("RESOLVED", [_item({"source": "audit", **item, "remedy": ""}, width) for item in report["resolved"]])
    texts = sections.prediction_texts(report)
    lines += _section("PREDICTIONS OF THE GATE", [list(wrap(clean_prose(text), width, "    ")) for text in texts])
    return "\n".join(lines) + "\n"


def _section(title: str, items: Sequence[Sequence[str]]) -> list[str]:
    if not items:
        return []
    shown = [line for item in items[:_MOST] for line in item]
    more = [f"    and {len(items) - _MOST} more, in the JSON"] if len(items) > _MOST else []
    return ["", f"{title} ({len(items)})", *shown, *more]


def _item(item: Mapping[str, str], width: int) -> list[str]:
    source = "" if item["source"] == "audit" else f" [{clean(item['source'])}]"
    sentence = f"{item['code']} {clean(item['resource'])}{source}: {our_line(item['message'], 1000)}"
    return [*wrap(sentence, width, "    "), *_remedy(item["remedy"], width)]


def _step(number: int, step: PlannedChange, width: int) -> list[str]:
    return [
        *wrap(remedy_text(step_text(step)), width, f"{number:>4}  ", _INDENT),
        *(f"{_INDENT}  {line}" for line in step_lines(step)),
        *(wrap(clean_prose(f"Until the next step: {step.halfway}"), width, _INDENT) if step.halfway else ()),
    ]


def _remedy(text: str, width: int) -> Iterator[str]:
    if text:
        yield from wrap(clean_prose(text, LONGEST_PARAGRAPH), width, _INDENT)


def _change(change: Mapping[str, Any], width: int) -> list[str]:
    before, after = (("-" if change[side] is None else clean(change[side])) for side in ("before", "after"))
    kind = clean(change["kind"]).replace("_", " ")
    return list(wrap(f"{kind} {clean(change['resource'])}: {before} -> {after}", width, "    "))


_MOST_LINES = 6
"""Lines of a section, and resources of a line; the page of the run has all of them."""

_LONGEST = 400


def approval_body(report: Mapping[str, Any]) -> str:
    """Return the report of the gate, blockers first."""
    parts = [text for section in sections.before_change_sections(report) if section.lines for text in _markdown_section(section)]
    whole = "The tab **Kafka audit** of this run contains the complete report."
    if steps := len(report.get("steps", ())):
        whole = (
            f"The tab **Kafka audit** of this run contains the complete report and the {counted(steps, 'step')} of the change."
        )
    return "\n".join([*(parts or ["There are no blockers and no open points.", ""]), whole])


def _markdown_section(section: Section) -> Iterator[str]:
    yield f"**{section.title} ({section.number})**"
    yield ""
    for line in section.lines[:_MOST_LINES]:
        yield f"- {_line(line)}"
    if len(section.lines) > _MOST_LINES:
        yield f"- and {counted(len(section.lines) - _MOST_LINES, 'more check')}: {_rest(section.lines[_MOST_LINES:])}"
    yield ""


def _line(line: Line) -> str:
    source = f" ({markdown.escaped(line.source)})" if line.source else ""
    sentence = markdown.escaped(line.text, _LONGEST).rstrip(".")
    also = f" Also: {markdown.escaped(listing(line.places[1:], _MOST_LINES), _LONGEST)}." if len(line.places) > 1 else ""
    code = f"**{line.code}**{source} " if line.code else ""
    return f"{code}{sentence}.{also} {markdown.markdown_prose(line.remedy)}".rstrip()


def _rest(lines: tuple[Line, ...]) -> str:
    return markdown.escaped(", ".join(dict.fromkeys(line.code for line in lines)), _LONGEST)
