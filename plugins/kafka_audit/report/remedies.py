"""Remedies in `findings.json`: each command, setting and name is an object, beside the text that can be copied.

Formats write a remedy from these values. A report without them was written before there were any: its text stands.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_audit.model import quoting
from kafka_audit.model.commands import Code, Command, CommentLine, Line, Part, Prose, SettingLine
from kafka_audit.model.report import RemedyPart, SettingValue
from kafka_audit.model.text import our_line

LONGEST_PARAGRAPH = 20_000
"""Characters of a paragraph of a remedy: sentences of ours, with values that are bounded. None of ours is cut."""

_LONGEST_LINE = 4000
_OF_A_BUNDLE = (
    "Not by this kafka-audit: the report was imported from a bundle, whose writer chose its steps, commands and texts. Run none"
    " of them. For steps of this kafka-audit, judge the snapshot again (kafka-audit diff)."
)


def origin_note(document: Mapping[str, Any]) -> str:
    """Return what is to be read beside the steps of a report that is not ours, "" for one that is."""
    return _OF_A_BUNDLE if document.get("origin") else ""


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


def finding_remedy(finding: Mapping[str, Any]) -> str | Prose:
    """Return what to do on a finding of a report."""
    return _parts(finding, "remedy") or str(finding["remediation"])


def step_text(step: Mapping[str, Any]) -> str | Prose:
    """Return the sentences of a step of a report."""
    return _parts(step, "parts") or str(step["text"])


def step_lines(step: Mapping[str, Any]) -> list[str]:
    """Return the commands, settings and comments of a step, one line each, as they can be copied."""
    held = _lines(step)
    return [*quoting.lines(held)] if held else [our_line(line, _LONGEST_LINE) for line in step["commands"]]


def first_command(step: Mapping[str, Any]) -> str:
    """Return the first command of a step, "" without one; a comment is none."""
    commands = [*quoting.lines(line for line in _lines(step) if isinstance(line, Command))] or step_lines(step)
    return next((line for line in commands if not line.startswith("#")), "")


def _lines(step: Mapping[str, Any]) -> tuple[Line, ...]:
    return tuple(part for part in _parts(step, "lines") if isinstance(part, Command | SettingLine | CommentLine))


def _parts(document: Mapping[str, Any], key: str) -> Prose:
    """Return the parts in a document, none where they are missing or malformed: a bundle may come from anyone."""
    try:
        return tuple(_from_json(raw) for raw in document.get(key, ()))
    except (KeyError, TypeError, ValueError, AttributeError):
        return ()


def _from_json(raw: Mapping[str, Any]) -> Part:
    withheld = _texts(raw.get("withheld", []))
    match raw:
        case {"text": str(text)}:
            return text
        case {"code": str(text)}:
            return Code(text=text)
        case {"remark": words}:
            return CommentLine(words=_texts(words))
        case {"command": [_, *_] as stages}:
            own_line = raw.get("own_line") is True
            return Command(stages=tuple(_texts(stage) for stage in stages), withheld=withheld, own_line=own_line)
        case {"setting": {"key": str(key), "value": str(value), "file": "properties" | "yaml" as file}}:
            return SettingLine(key=key, value=value, file=file, withheld=withheld)
        case {"setting": {"key": str(key), "value": values, "file": "yaml"}}:
            return SettingLine(key=key, value=_texts(values), file="yaml", withheld=withheld)
    msg = "no part of a remedy"
    raise ValueError(msg)


def _texts(raw: object) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(text, str) for text in raw):
        msg = "no list of texts"
        raise ValueError(msg)
    return tuple(raw)
