"""The page of a check for a terminal: its docstring, with the first of its cases that fails. And that of an error message."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from kafka_audit.checks import Check
from kafka_audit.model.commands import named_placeholders
from kafka_audit.model.errors import UsageError
from kafka_audit.model.package_yaml import LOADER
from kafka_audit.model.text import LONGEST, did_you_mean
from kafka_audit.report.symptoms import SymptomPage, symptom_pages
from kafka_audit.report.symptoms.markdown import page_markdown
from kafka_audit.report.symptoms.search import find_pages, is_clear
from kafka_audit.report.text import wrap

_CASES = files("kafka_audit.checks")
_WORDS = {
    "sample": "one collection of all views; a difference is read again after `limits.settle_s` seconds and counts if it remains",
    "view": "the data that one observer, such as a broker, reports about the cluster",
    "vantage": "the host where probes start: this worker, or a host from the cluster file",
}
_WIDEST_PROSE = 100
_FENCE, _LINK = re.compile(r"^```\w*\n(.*?)\n```$", re.MULTILINE | re.DOTALL), re.compile(r"\[([^][]+)\]\([^()]*\)")
_MESSAGE = re.compile(r"^- `(.*?)`", re.MULTILINE)  # a line of a page breaks there, so that no command is broken
_STRONG = re.compile(r"\*\*([^*\n]+)\*\*")
_CODE = re.compile(r"ka\d+", re.IGNORECASE)
_BOLD = "\x1b[1m{}\x1b[0m"


def explained(checks: Mapping[str, Check], words: str, *, width: int, color: bool) -> str:
    """Return the page of a check by its code or name, or that of an error message by words of it.

    A name in capitals is an error of Kafka, such as LEADER_NOT_AVAILABLE, before it is a check. Raises `UsageError`.
    """
    page = symptom_pages().get(words)
    if page is not None:
        return symptom_text(checks, page, width=width, color=color)
    found = () if words.upper() in checks else find_pages(words)
    name = re.fullmatch(r"[\w-]+", words) is not None and words != words.upper()
    if found and not (name and (_by_word(checks, words) or _near(checks, words))):
        if not is_clear(words):
            return "\n".join(("No page fits these words well; type more of the message. The nearest:", *_titles(found[:4])))
        return symptom_text(checks, found[0], width=width, color=color, similar=found[1:4])
    return check_text(find_check(checks, words), width=width, color=color)


def find_check(checks: Mapping[str, Check], word: str) -> Check:
    """Return the check of that code or name, in any case; raises `UsageError` with the nearest one."""
    found = _by_word(checks, word)
    if found is not None:
        return found
    near, shown = _near(checks, word), repr(word[:LONGEST])
    if _CODE.fullmatch(word):
        msg = f"{shown} is not a check of this version{near or '; `kafka-audit explain` lists them'}"
    else:
        more = "; type more of the message, or `kafka-audit explain` for the list of checks"
        msg = f"{shown} is not a check, and no page of an error message has these words{near or more}"
    raise UsageError(msg)


def _by_word(checks: Mapping[str, Check], word: str) -> Check | None:
    by_word = {check.code.lower(): check for check in checks.values()} | {check.name: check for check in checks.values()}
    return by_word.get(word.lower().replace("-", "_"))


def _near(checks: Mapping[str, Check], word: str) -> str:
    return did_you_mean(word[:LONGEST], [*checks, *(check.name for check in checks.values())])


def symptom_markdown(checks: Mapping[str, Check], page: SymptomPage) -> str:
    """Return the page of an error message."""
    return page_markdown(page, checks, {code: check_summary(checks[code]) for code in page.codes})


def symptom_text(
    checks: Mapping[str, Check], page: SymptomPage, *, width: int, color: bool, similar: Sequence[SymptomPage] = ()
) -> str:
    """Return the page of an error message for a terminal, and the names of similar ones."""
    text = _FENCE.sub(lambda code: textwrap.indent(code[1], "    "), symptom_markdown(checks, page).removesuffix("\n"))
    text = _STRONG.sub(r"\1", _LINK.sub(r"\1", _MESSAGE.sub(r"- \1", text)))
    lines = list(_rendered(text, min(width, _WIDEST_PROSE), color=color))[1:]
    if similar:
        lines += ["", _strong("Similar", color=color), *_titles(similar)]
    return "\n".join(lines)


def _titles(pages: Iterable[SymptomPage]) -> Iterator[str]:
    return (f"  kafka-audit explain {page.slug:<26} {page.title}" for page in pages)


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
    return "\n".join([*lines[1:], "", "Run `kafka-audit explain CODE` for details, or with an error message for its page."])


def check_summary(check: Check) -> str:
    """Return the first paragraph of a check's page on one line: the fault."""
    return " ".join(check.doc.split("\n\n")[0].split())


def check_text(check: Check, *, width: int, color: bool, cases: Traversable = _CASES) -> str:
    """Return the page of one check for a terminal."""
    title = f"{check.code} {check.name}"
    facts = f"{check.severity.name}, {check.family.replace('_', ' ')}, since {check.since}"
    needs = ", ".join(table.table() for table in check.needs)
    # What a report fills in from its evidence, here only named.
    doc = named_placeholders(check.doc)
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
    cases: Mapping[str, Mapping[str, Any]] = LOADER(text).get_single_data()["cases"]
    for name, case in cases.items():
        if any(expected.get("status", "FAIL") == "FAIL" for expected in case.get("expect", ())):
            block = re.search(rf"^  {name}:.*\n(?:(?:    .*)?\n)*", text, re.MULTILINE)
            return textwrap.dedent(block[0]).strip() if block else ""
    return ""


def _strong(text: str, *, color: bool) -> str:
    return _BOLD.format(text) if color else text
