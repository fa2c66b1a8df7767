"""The text of the question whether a change may begin: Markdown, as the UI of Airflow shows it, and short."""

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_audit.migration import sections
from kafka_audit.model.text import counted, listing
from kafka_audit.report.plain_text import markdown
from kafka_audit.report.sections import Line, Section

_MOST = 6
"""Lines of a section, and resources of a line; the page of the run has all of them."""

_LONGEST = 400


def approval_body(report: Mapping[str, Any]) -> str:
    """Return the report of the gate, blockers first."""
    parts = [text for section in sections.before_change_sections(report) if section.lines for text in _section(section)]
    whole = "The tab **Kafka audit** of this run contains the complete report."
    if steps := len(report.get("steps", ())):
        whole = (
            f"The tab **Kafka audit** of this run contains the complete report and the {counted(steps, 'step')} of the change."
        )
    return "\n".join([*(parts or ["There are no blockers and no open points.", ""]), whole])


def _section(section: Section) -> Iterator[str]:
    yield f"**{section.title} ({section.number})**"
    yield ""
    for line in section.lines[:_MOST]:
        yield f"- {_line(line)}"
    if len(section.lines) > _MOST:
        yield f"- and {counted(len(section.lines) - _MOST, 'more check')}: {_rest(section.lines[_MOST:])}"
    yield ""


def _line(line: Line) -> str:
    source = f" ({markdown.escaped(line.source)})" if line.source else ""
    sentence = markdown.escaped(line.text, _LONGEST).rstrip(".")
    also = f" Also: {markdown.escaped(listing(line.places[1:], _MOST), _LONGEST)}." if len(line.places) > 1 else ""
    code = f"**{line.code}**{source} " if line.code else ""
    return f"{code}{sentence}.{also} {markdown.markdown_prose(line.remedy)}".rstrip()


def _rest(lines: tuple[Line, ...]) -> str:
    return markdown.escaped(", ".join(dict.fromkeys(line.code for line in lines)), _LONGEST)
