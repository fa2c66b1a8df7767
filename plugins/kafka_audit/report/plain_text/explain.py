"""The page of a check for a terminal: its docstring, with the first of its cases that fails. And that of an error message."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from kafka_audit.checks import Check
from kafka_audit.model.commands import named_placeholders
from kafka_audit.model.errors import UsageError
from kafka_audit.model.package_yaml import LOADER
from kafka_audit.model.text import LONGEST, did_you_mean
from kafka_audit.report.plain_text.lines import fault_shown, line_text
from kafka_audit.report.symptoms import SymptomPage, spellings, symptom_pages
from kafka_audit.report.symptoms.markdown import page_markdown
from kafka_audit.report.symptoms.search import Search, search, title_of
from kafka_audit.report.text import wrap
from kafka_audit.says.catalogue import is_ordinary
from kafka_audit.says.others import program_of
from kafka_audit.says.reading import ReadLine, read_fragment, read_pasted

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


class Explanation(NamedTuple):
    """What is printed, and whether it is about what was typed: a check, a known line, or a page that fits."""

    text: str
    fits: bool = True


def explained(checks: Mapping[str, Check], words: str, *, width: int, color: bool) -> Explanation:
    """Return the page of a check by its code or name, the meaning of lines of logs, or the page of an error message by its words.

    A name in capitals is an error of Kafka, such as LEADER_NOT_AVAILABLE, before it is a check. Raises `UsageError` for one word
    that is none of these.
    """
    page = symptom_pages().get(words) or next((page for page in symptom_pages().values() if page.title == words), None)
    if page is not None:
        return Explanation(symptom_text(checks, page, width=width, color=color))
    one_word = re.fullmatch(r"[\w-]+", words) is not None
    name = one_word and words != words.upper()
    if not words.strip() or words.upper() in checks or (name and _by_word(checks, words)):
        return Explanation(check_text(find_check(checks, words), width=width, color=color))
    answers = read_pasted(words)
    known = [answer for answer in answers if answer.found or answer.below or fault_shown(answer)]
    found = search(words)
    if known:
        page = _page_of_lines(answers, found) or _page_of_exception(answers)
        text = line_text(checks, answers, width=min(width, _WIDEST_PROSE))
        further = symptom_text(checks, page, width=width, color=color) if page else ""
        return Explanation(f"{text}\n\n{further}".rstrip())
    other = any(map(_of_another_program, answers)) or (
        _EXCEPTION.match(words) is not None and not _has_message(found.pages, words)
    )
    if found.pages and found.subject is None and found.is_clear and not other and not (name and _near(checks, words)):
        return Explanation(_page_text(checks, found.pages, width=width, color=color))
    if one_word and found.subject is None and (not found.pages or (name and _near(checks, words))):
        return Explanation(check_text(find_check(checks, words), width=width, color=color))
    fragment = read_fragment(words) if found.subject is None and not other else None
    text = line_text(checks, [fragment], width=min(width, _WIDEST_PROSE)) if fragment else ""
    page = None if text else _page_of_exception(answers)
    if page:
        line = line_text(checks, answers, width=min(width, _WIDEST_PROSE))
        text = f"{line}\n\n{symptom_text(checks, page, width=width, color=color)}"
    return Explanation(text or _no_page(checks, answers, found, width=min(width, _WIDEST_PROSE)), fits=bool(text))


def _no_page(checks: Mapping[str, Check], answers: Sequence[ReadLine], found: Search, *, width: int) -> str:
    """Return what is said where no page fits: whose line it is, or what it is about, and the nearest pages."""
    if found.subject is not None:
        text = f"This is about {found.subject}, which an audit does not judge; Kafka's documentation has it."
    elif any(map(_is_a_line, answers)):
        text = line_text(checks, answers, width=width)
    else:
        text = _TYPE_MORE
    nearest = (
        ("", "The nearest pages:", *_titles(found.pages[:4]))
        if found.pages and not any(map(_of_another_program, answers))
        else ()
    )
    return "\n".join((f"No page fits. {text}", *nearest))


_TYPE_MORE = "Type more of the message, or `kafka-audit explain` for the list of checks."


def _page_of_lines(answers: Sequence[ReadLine], searched: Search) -> SymptomPage | None:
    """Return the page of a line whose meaning is known, if there is one that has the message, or the text of the exception."""
    page = next((symptom_pages().get(slug) for slug in searched.pages), None)
    known = [*answers[0].found, *(one for below in answers[0].below for one in below)]
    if page is None or len(answers) > 1 or not searched.is_clear or fault_shown(answers[0]):
        return None
    if all(is_ordinary(found.meaning) for found in known) or (answers[0].record.exceptions and not answers[0].below):
        return None  # another exception is another fault
    texts = [found.text for found in known]
    parts = {max(text.split("…"), key=len).strip() for text in texts}
    shares = any(len(part) >= _TELLING and part in message for part in parts for message in page.messages)
    messages = (part.strip() for message in page.messages for part in message.split("…"))
    return page if shares or any(len(part) >= _TELLING and part in text for part in messages for text in texts) else None


def _page_of_exception(answers: Sequence[ReadLine]) -> SymptomPage | None:
    """Return the page of the error of Kafka's protocol that the last exception below a line is, None where it is none."""
    if len(answers) != 1 or answers[0].below or not answers[0].record.exceptions or fault_shown(answers[0]):
        return None
    name = answers[0].record.exceptions[-1][0]
    names = ((page, spellings(one)) for page in symptom_pages().values() for ones in page.errors.values() for one in ones)
    return next((page for page, spelled in names if name in spelled), None)


_TELLING = 12  # characters of a message that others hardly have
_EXCEPTION = re.compile(r"\s*(?:Caused by: )?[\w$.]{1,200}(?:Exception|Error): ")


def _has_message(slugs: Sequence[str], words: str) -> bool:
    """Return whether the first page has a part of the message of an exception: one that shares words with it is another fault."""
    pages = (symptom_pages()[slug] for slug in slugs[:1] if slug in symptom_pages())
    parts = (part.strip() for page in pages for message in page.messages for part in message.split("…"))
    return any(len(part) >= _TELLING and part in words for part in parts)


def _is_a_line(answer: ReadLine) -> bool:
    return answer.record.has_head or bool(answer.record.logger) or program_of(answer.record) is not None


def _of_another_program(answer: ReadLine) -> bool:
    """Return whether a line is of no client of Kafka, whose messages have pages: it is none, or it has a level and a logger."""
    program = program_of(answer.record)
    return not program.client if program else answer.record.has_head or bool(answer.record.logger)


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
    return page_markdown(page, checks, {code: checks[code].summary for code in page.codes})


def _page_text(checks: Mapping[str, Check], slugs: Sequence[str], *, width: int, color: bool) -> str:
    """Return the first of these pages for a terminal, and the names of the next ones."""
    best, *next_ones = slugs
    page = symptom_pages().get(best)
    others = [slug for slug in next_ones if page is None or slug not in page.codes][:3]
    text = symptom_text(checks, page, width=width, color=color) if page else check_text(checks[best], width=width, color=color)
    return "\n".join((text, "", _strong("Similar", color=color), *_titles(others)) if others else (text,))


def symptom_text(checks: Mapping[str, Check], page: SymptomPage, *, width: int, color: bool) -> str:
    """Return the page of an error message for a terminal."""
    text = _FENCE.sub(lambda code: textwrap.indent(code[1], "    "), symptom_markdown(checks, page).removesuffix("\n"))
    text = _STRONG.sub(r"\1", _LINK.sub(r"\1", _MESSAGE.sub(r"- \1", text)))
    return "\n".join([*_rendered(text, min(width, _WIDEST_PROSE), color=color)][1:])


def _titles(slugs: Iterable[str]) -> Iterator[str]:
    return (f"  kafka-audit explain {slug:<26} {title_of(slug)}" for slug in slugs)


def catalogue_text(checks: Mapping[str, Check], *, width: int, color: bool) -> str:
    """Return all checks, a line each, by family."""
    lines: list[str] = []
    family = ""
    for check in checks.values():
        if check.family != family:
            family = check.family
            lines += ["", _strong(family.replace("_", " "), color=color)]
        start = f"  {check.code}  {check.severity.name:<8}  "
        lines.append(textwrap.shorten(check.summary, max(width - len(start), 20), placeholder=" …").join((start, "")))
    return "\n".join([*lines[1:], "", "Run `kafka-audit explain CODE` for details, or with an error message for its page."])


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
