"""Jinja with two protections: autoescape, and every string that is not our markup is cleaned before it is escaped."""

import functools
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kafka_audit.model import quoting
from kafka_audit.model.commands import Prose
from kafka_audit.model.report import PlannedChange, ReportedFinding, ReportedStep
from kafka_audit.model.text import clean, counted, our_line, ranges
from kafka_audit.report import remedies
from kafka_audit.report.impacts import who_is_hurt
from kafka_audit.report.text import candidate_text
from kafka_audit.report.worsening import since_text, worse_text

_LONGEST = 4000
_UNBROKEN = 34  # characters
_CODE = re.compile(r"`([^`\n]{1,4000})`")
_MONTH_DAY = "%d %b %H:%M"


@functools.cache
def jinja_environment() -> Environment:
    """Return the environment of all pages."""
    found = Environment(
        loader=PackageLoader("kafka_audit.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    found.filters |= {
        "name": name,
        "prose": html_prose,
        "at": at,
        "minute": minute,
        "bar": bar,
        "commands": commands,
        "command_to_see": remedies.command_to_see,
        "step_without_command": remedies.step_without_command,
        "remedy": html_remedy,
        "sentences": _sentences,
        "step_text": html_step,
        "step_lines": remedies.step_lines,
        "by_broker": by_broker,
        "candidate_text": candidate_text,
        "worse_text": worse_text,
        "waits_for_a_decision": remedies.waits_for_a_decision,
        "since_text": since_text,
        "who_is_hurt": who_is_hurt,
    }
    found.globals["counted"] = counted
    found.globals["decide_first"] = remedies.DECIDE_FIRST
    return found


def asset(file: str) -> str:
    """Return `page.css` or `page.js`."""
    return files("kafka_audit.report.html").joinpath(file).read_text(encoding="utf-8")


def _finalize(value: Any) -> Any:  # noqa: ANN401 -- whatever a template shows
    """Clean what a template shows, wherever it came from: no string reaches a page as it is."""
    return our_line(value, _LONGEST) if isinstance(value, str) and not isinstance(value, Markup) else value


def name(value: object, limit: int = 120) -> Markup:
    """Return a string that a cluster supplied, cut and isolated, so that its own direction does not turn its neighbours."""
    return Markup("<bdi>{}</bdi>").format(clean(value, limit))


def html_prose(value: str, limit: int = 2000) -> Markup:
    """Return sentences as markup: one line each, with code between backticks; all else is text."""
    lines = (_CODE.sub(_code, str(escape(our_line(line, limit)))) for line in value.split("\n"))
    return Markup("<bdi>{}</bdi>").format(Markup("<br>".join(lines)))  # noqa: S704 -- escaped line by line, two lines above


def _code(found: re.Match[str]) -> str:
    """Return code that a line does not break behind a hyphen, where it is short enough for a phone."""
    kept = ' class="nowrap"' if len(found[1]) <= _UNBROKEN else ""
    return f"<code{kept}>{found[1]}</code>"


def html_remedy(finding: ReportedFinding) -> Markup:
    """Return what to do on a finding as markup, with its commands as code."""
    return _sentences(remedies.finding_remedy(finding))


def html_step(step: ReportedStep | PlannedChange) -> Markup:
    """Return the sentences of a step as markup, with their commands as code."""
    return _sentences(remedies.step_text(step))


def _sentences(text: str | Prose) -> Markup:
    shown = quoting.written(
        text,
        words=lambda part: str(html_prose(part)),
        span=quoting.html_code,
        line=quoting.html_code,
    )
    return Markup(shown)  # noqa: S704 -- each part is escaped above


def commands(lines: Iterable[str]) -> Markup:
    """Return lines of code as text, each as it can be copied."""
    return Markup("\n").join(our_line(line, remedies.LONGEST_PARAGRAPH) for line in lines)


def by_broker(numbers: Mapping[str, int], limit: int = 8) -> str:
    """Return how many findings each broker has, the most first; beyond `limit` brokers how many more there are."""
    if len(numbers) > 1 and set(numbers.values()) == {1}:
        return f"one at each of brokers {ranges(map(int, numbers))}"
    most = sorted(numbers.items(), key=lambda item: (-item[1], len(item[0]), item[0]))
    reported = ", ".join(f"{number} at broker {broker}" for broker, number in most[:limit])
    return f"{reported} and others at {counted(len(most) - limit, 'more broker')}" if len(most) > limit else reported


def at(value: str | None) -> Markup:
    """Return a time of a report as markup, with the day and the year."""
    moment = _moment(value)
    if moment is None:
        return Markup("time not known")
    text = moment.strftime("%d %b %Y %H:%M UTC").lstrip("0")
    return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(), text)


def minute(value: str | None) -> str:
    """Return a time short enough for a column's head."""
    moment = _moment(value)
    return "not known" if moment is None else moment.strftime(_MONTH_DAY).lstrip("0")


def bar(answered: int, asked: int) -> Markup:
    """Return a bar of how much was answered; what was not is hatched."""
    share = 100.0 * answered / asked if asked else 0.0
    return Markup(
        '<svg class="cov" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{} of {} answered">'
        '<rect width="{:.1f}" height="10"/></svg>'
    ).format(answered, asked, share)


def _moment(value: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(value).astimezone(UTC) if value else None
    except ValueError:
        return None
