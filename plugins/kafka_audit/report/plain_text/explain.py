"""The page of a check: its docstring for a terminal, with the first of its cases that fails."""

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml

from kafka_audit.checks import Check
from kafka_audit.model.commands import named_placeholders
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import did_you_mean
from kafka_audit.report.text import wrap

_CASES = files("kafka_audit.checks")
_WORDS = {
    "sample": "one collection of all views; a difference is read again after `limits.settle_s` seconds and counts if it remains",
    "view": "the data that one observer, such as a broker, reports about the cluster",
    "vantage": "the host where probes start: this worker, or a host from the cluster file",
}
_WIDEST_PROSE = 100
_BOLD = "\x1b[1m{}\x1b[0m"


def find_check(checks: Mapping[str, Check], word: str) -> Check:
    """Return the check of that code or name, in any case; raises `UsageError` with the nearest one."""
    by_word = {check.code.lower(): check for check in checks.values()} | {check.name: check for check in checks.values()}
    found = by_word.get(word.lower().replace("-", "_"))
    if found is not None:
        return found
    near = did_you_mean(word, [*checks, *(check.name for check in checks.values())])
    msg = f"{word!r} is not a check of this version{near or '; `kafka-audit explain` lists them'}"
    raise UsageError(msg)


def catalogue_text(checks: Mapping[str, Check], *, width: int, color: bool) -> str:
    """Return all checks, a line each, by family."""
    lines: list[str] = []
    family = ""
    for check in checks.values():
        if check.family != family:
            family = check.family
            lines += ["", _strong(family.replace("_", " "), color=color)]
        start = f"  {check.code}  {check.severity.name:<8}  "
        lines.append(textwrap.shorten(check_summary(check), max(width - len(start), 20), placeholder=" …").join((start, "")))
    return "\n".join([*lines[1:], "", "Run `kafka-audit explain CODE` for details."])


def check_summary(check: Check) -> str:
    """Return the first paragraph of a check's page on one line: the fault."""
    return " ".join(inspect.cleandoc(check.doc).split("\n\n")[0].split())


def check_text(check: Check, *, width: int, color: bool, cases: Traversable = _CASES) -> str:
    """Return the page of one check for a terminal."""
    title = f"{check.code} {check.name}"
    facts = f"{check.severity.name}, {check.family.replace('_', ' ')}, since {check.since}"
    needs = ", ".join(table.table() for table in check.needs)
    # What a report fills in from its evidence, here only named.
    doc = named_placeholders(inspect.cleandoc(check.doc))
    prose = min(width, _WIDEST_PROSE)
    body = _rendered(doc, prose, color=color)
    lines = [f"{_strong(title, color=color)}  ({facts})", *body, "", _strong("Judged from", color=color), f"  {needs}"]
    terms = explained_words(doc)
    if terms:
        lines += ["", _strong("Words", color=color), *(line for term in terms for line in wrap(term, prose, "  ", "    "))]
    example = first_failing_case(check, cases)
    if example:
        lines += ["", _strong("Example that fails", color=color), *textwrap.indent(example, "  ").splitlines()]
    return "\n".join(lines)


def explained_words(doc: str) -> tuple[str, ...]:
    """Return what the words of this tool mean that a page uses."""
    return tuple(f"{word}: {meaning}" for word, meaning in _WORDS.items() if re.search(rf"\b{word}s?\b", doc))


def _rendered(doc: str, width: int, *, color: bool) -> Iterator[str]:
    """Yield the lines of a docstring: headings strong, prose filled, lists hanging, code and tables as they are."""
    indent = ""
    for block in re.split(r"\n\s*\n", doc):
        yield ""
        text = block
        if match := re.match(r"#+ (.*)(?:\n|$)", block):
            yield _strong(match[1], color=color)
            text, indent = block[match.end() :], "  "
        if text.startswith(("    ", "|", "```")):
            yield from textwrap.indent(text, indent).splitlines()
            continue
        for item in re.split(r"\n(?=[-*] |\d+[.)] )", text) if text else ():
            marker = re.match(r"(?:[-*]|\d+[.)]) +", item)
            hanging = indent + " " * (len(marker[0]) if marker else 0)
            yield from wrap(" ".join(item.split()), width, indent, hanging)


def first_failing_case(check: Check, folder: Traversable = _CASES) -> str:
    """Return the first case that fails as its author wrote it: what is seen, what is found. Nothing without a file."""
    path = folder / check.family / f"{check.name}.yaml"
    if not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8")
    cases: Mapping[str, Mapping[str, Any]] = yaml.safe_load(text)["cases"]
    for name, case in cases.items():
        if any(expected.get("status", "FAIL") == "FAIL" for expected in case.get("expect", ())):
            block = re.search(rf"^  {name}:.*\n(?:(?:    .*)?\n)*", text, re.MULTILINE)
            return textwrap.dedent(block[0]).strip() if block else ""
    return ""


def _strong(text: str, *, color: bool) -> str:
    return _BOLD.format(text) if color else text
