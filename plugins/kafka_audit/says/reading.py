"""Which line of the catalogue a pasted line is.

Texts are compared without their spaces, so that it does not matter where a line was wrapped. Candidates are found by the rarest
words of a template, and compared piece by piece: the time grows with the text and the candidates, which are few.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from kafka_audit.says.catalogue import Template, templates
from kafka_audit.says.records import Record, exceptions_in, records

MOST_ANSWERS = 12
"""Different lines of a pasted text that get an answer."""

_WORD = re.compile(r"[A-Za-z]{3,40}")
_KEYS = 3  # words by which a template is found: the rarest ones
_MOST_CANDIDATES, _MOST_TEXT, _GRAM = 400, 3_000, 8
_BOUNDARY = frozenset("](>)}:-|\"'=.,;")  # what may stand in front of a message, beside its beginning
_AFTER = frozenset('([{:"')  # what may stand behind it: a logger, a thread, an exception
_HANDED_ON = "Encountered fatal fault: "
_LEVELS = {"FATAL": "FE", "ERROR": "FE", "WARN": "W", "INFO": "I"}
_OWN = re.compile(r"(?:kafka|org\.apache\.kafka|org\.apache\.zookeeper|state\.change|org\.apache\.log4j)\b|\w+$")
_OTHERS = re.compile(r"org\.apache\.kafka\.(?:connect|streams|tools|trogdor|jmh)\b")
_SHORTEST, _SHORT, _CUT, _LONG, _FEW_WORDS = 8, 12, 16, 25, 4
"""Fixed characters, without spaces, and words that a template needs: the fewer, the more else speaks for it."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a template fits to a text: its fixed characters in it, and whether it begins and ends where a message does."""

    template: Template
    fixed: int
    begins: bool
    ends: bool
    cut: bool
    named: bool  # the logger of the line is that of the template
    level: bool  # the level is that of the template, or unknown

    @property
    def order(self) -> int:
        """The larger, the better."""
        open_end = self.template.text.endswith("…")
        return (
            self.fixed + 8 * self.begins + (4 if open_end else 10) * self.ends + 12 * self.level + 24 * self.named - 4 * self.cut
        )


@dataclass(frozen=True, kw_only=True)
class ReadLine:
    """A pasted line and what it is: the templates that fit equally well, those of the exceptions below it, the causes last."""

    record: Record
    found: tuple[Template, ...]
    below: tuple[tuple[Template, ...], ...]
    cut: bool = False


def read_pasted(pasted: str) -> tuple[ReadLine, ...]:
    """Return what the lines of a pasted text are, each different one once; others than the catalogue's have no templates."""
    answers: dict[object, ReadLine] = {}
    for record in records(pasted):
        answer = _as_it_was_handed_on(read_record(record))
        key = (tuple(found.text for found in answer.found), answer.below) if answer.found or answer.below else record.text
        answers.setdefault(key, answer)
        if len(answers) >= MOST_ANSWERS:
            break
    return tuple(answers.values())


def read_fragment(typed: str) -> ReadLine | None:
    """Return the lines of the catalogue that have a few words in them, in any case, unless they mean too many things."""
    words, squeezed = _WORD.findall(typed[:_MOST_TEXT]), "".join(typed[:_MOST_TEXT].casefold().split())
    if len(words) < _FEW_WORDS - 1 or len(squeezed) < _CUT:
        return None
    has = (one for one in templates() if one.level != "T" and any(squeezed in piece.casefold() for piece in _pieces(one.text)))
    found = tuple({template.meaning: template for template in has}.values())
    return ReadLine(record=_bare(typed), found=found, below=(), cut=True) if 0 < len(found) < _FEW_WORDS else None


def _bare(text: str) -> Record:
    return Record(line=text, text=text, whole=text)


def _as_it_was_handed_on(answer: ReadLine) -> ReadLine:
    """Return an answer with what a line quotes at its end, or for a text that is only written behind such a beginning.

    A fault handler writes what was handed to it, so that half of the line is a template of its own.
    """
    record = answer.record
    if not answer.found:
        behind = _best(_bare(f"{_HANDED_ON}{record.text}"))
        found = (fit.template for fit in behind if fit.template.text.startswith(_HANDED_ON.split(maxsplit=1)[0]))
        return replace(answer, found=tuple(one for one in found if not one.text.endswith("…")))
    if answer.below or not answer.found[0].text.endswith(": …"):
        return answer
    quoted = _bare(record.text.partition(answer.found[0].text.rpartition("…")[0].rpartition("…")[2].strip())[2].strip())
    fits = [fit.template for fit in _best(quoted) if fit.begins and not fit.cut]
    return replace(answer, below=(tuple(fits),) if fits else ())


def read_record(record: Record) -> ReadLine:
    """Return what a line is, with the exceptions below it."""
    exceptions = [*exceptions_in(record.text), *record.exceptions]
    fits = _best(record) if not _OTHERS.match(record.logger) else []
    below = [found for name, message in exceptions[:8] if (found := _thrown(name, message))]
    distinct = tuple(dict.fromkeys(below))[-3:]
    return ReadLine(
        record=record,
        found=tuple(fit.template for fit in fits if fit.template.level != "T" or not distinct),
        below=distinct,
        cut=any(fit.cut for fit in fits),
    )


def _best(record: Record) -> list[Fit]:
    """Return the fits of the best template, and of those that fit equally well."""
    texts = dict.fromkeys((record.text, "".join([record.text, *record.further]), record.whole))
    words = {word for part in (*texts, *record.further) for word in _WORD.findall(part[:_MOST_TEXT])}
    found = [fit for text in texts for fit in _fits(text, words, record) if _is_enough(fit, record)]
    best = max(found, key=lambda fit: fit.order, default=None)
    if best is None:
        return []
    # Of a line that was cut, and has no logger, what fits as far as it goes is as likely.
    equal = [fit for fit in found if fit.order == best.order or (fit.begins and fit.fixed >= best.fixed and not record.logger)]
    return list({fit.template.meaning: fit for fit in reversed(equal)}.values())[::-1]


def _is_enough(fit: Fit, record: Record) -> bool:
    """Return whether so much of a template is in a text that it is no accident."""
    stranger = bool(record.logger) and not fit.named and not _OWN.match(record.logger)
    if stranger or record.level not in ("", "INFO", "WARN", "ERROR", "FATAL"):  # DEBUG and TRACE are not in the catalogue
        return False
    words = len(_WORD.findall(fit.template.text))
    whole = fit.begins and fit.ends and not fit.cut
    if fit.template.level == "T":  # the message of an exception without its name
        return fit.begins and fit.fixed >= _LONG
    if fit.named:
        return whole or fit.fixed >= _SHORT
    if whole or (fit.cut and fit.begins and record.has_head and fit.level):
        least = _LONG if not fit.level else _SHORT if not record.has_head else _SHORTEST
        return fit.fixed >= (least if whole else _CUT) and words >= 2  # noqa: PLR2004 -- one word is in many messages
    return fit.fixed >= (_LONG if fit.begins else 2 * _LONG) and words >= _FEW_WORDS


def _fits(text: str, words: Iterable[str], record: Record) -> Iterator[Fit]:
    squeezed = "".join(text[:_MOST_TEXT].split())
    simple = record.logger.rpartition(".")[2].partition("$")[0]
    numbers: Counter[int] = Counter()
    for word in words:
        numbers.update(_index().words.get(word, ()))
    known = sorted(_headed(squeezed) & numbers.keys(), key=lambda number: (-numbers[number], number))
    for number in known[:_MOST_CANDIDATES]:
        template = templates()[number]
        found = _compared(squeezed, _pieces(template.text))
        if found:
            named = simple in template.loggers
            level = template.level == "T" or template.level in _LEVELS.get(record.level, "" if record.level else "FEWI")
            yield Fit(template, *found, named=named, level=level)


def _headed(squeezed: str) -> set[int]:
    """Return the templates whose beginning is in a text: it fits as a whole or as far as it was cut, and most do not."""
    by_gram, short = _heads()
    found = set(short)
    for place in range(len(squeezed) - _GRAM + 1):
        found.update(
            number for head, number in by_gram.get(squeezed[place : place + _GRAM], ()) if squeezed.startswith(head, place)
        )
    return found


@cache
def _heads() -> tuple[Mapping[str, list[tuple[str, int]]], list[int]]:
    """Return the beginnings of templates by their first characters, and the templates whose beginning is shorter."""
    by_gram: dict[str, list[tuple[str, int]]] = defaultdict(list)
    short: list[int] = []
    for number, template in enumerate(templates()):
        head = _pieces(template.text)[0][:_LONG]
        if len(head) < _GRAM:
            short.append(number)
        else:
            by_gram[head[:_GRAM]].append((head, number))
    return by_gram, short


def _compared(text: str, pieces: tuple[str, ...]) -> tuple[int, bool, bool, bool] | None:
    """Return fixed characters, whether the template begins and ends where a message does, and whether the text is cut."""
    first, *others = pieces
    begins, place = True, 0
    if first:
        place = text.find(first)
        if place < 0:
            return _cut_in(text, first)
        begins = place == 0 or text[place - 1] in _BOUNDARY
        place += len(first)
    fixed = len(first)
    for number, piece in enumerate(others):
        if not piece:  # the template ends with a hole
            return fixed, begins, True, False
        after = text.find(piece, place) if number < len(others) - 1 else _last(text, piece, place)
        if after < 0:
            part = _beginning_at_end(text, piece, place)
            return (fixed + part, begins, False, True) if fixed + part >= _SHORT else None
        fixed, place = fixed + len(piece), after + len(piece)
    return fixed, begins, place == len(text) or text[place] in _AFTER, False


def _last(text: str, piece: str, place: int) -> int:
    """Return where the last piece is: at the end of the text if it is there, else where it is first."""
    if text.endswith(piece) and len(text) - len(piece) >= place:
        return len(text) - len(piece)
    return text.find(piece, place)


def _cut_in(text: str, first: str) -> tuple[int, bool, bool, bool] | None:
    """Return a fit of a text that ends within the first piece of a template."""
    part = _beginning_at_end(text, first, 0, _LONG)
    if not part:
        return None
    place = len(text) - part
    return part, place == 0 or text[place - 1] in _BOUNDARY, False, True


def _beginning_at_end(text: str, piece: str, place: int, least: int = 3) -> int:
    """Return how many characters at the end of a text are the beginning of a piece; fewer than the least are none."""
    start = text.find(piece[:least], max(place, len(text) - len(piece) + 1)) if len(piece) > least else -1
    while start >= 0:
        if piece.startswith(text[start:]):
            return len(text) - start
        start = text.find(piece[:least], start + 1)
    return 0


def _thrown(name: str, message: str) -> tuple[Template, ...]:
    """Return the templates of an exception that fit best, by its name and message."""
    squeezed = "".join(message[:_MOST_TEXT].split())
    found: list[tuple[int, Template]] = []
    for template in _index().thrown.get(name, ()):
        pieces = _pieces(template.text)
        fit = _compared(squeezed, pieces) if template.text else (0, True, True, False)
        if fit and (not pieces[0] or squeezed.startswith(pieces[0])) and (fit[0] >= _SHORT or template.since == "j" or fit[2]):
            found.append((fit[0], template))
    best = max((fixed for fixed, _ in found), default=0)
    of_meaning = {template.meaning: template for fixed, template in reversed(found) if fixed == best}
    return tuple(of_meaning.values())[::-1]


@dataclass(frozen=True)
class _Index:
    words: Mapping[str, tuple[int, ...]]  # the numbers of templates that are found by a word
    thrown: Mapping[str, tuple[Template, ...]]


@cache
def _index() -> _Index:
    of_template = [_WORD.findall(template.text) for template in templates()]
    frequency = Counter(word for words in of_template for word in set(words))
    found: dict[str, list[int]] = defaultdict(list)
    thrown: dict[str, list[Template]] = defaultdict(list)
    for number, (template, words) in enumerate(zip(templates(), of_template, strict=True)):
        if template.level == "T":
            for name in template.loggers:
                thrown[name].append(template)
        if template.since == "j":
            continue
        first_half = words[: len(words) // 2 + 1]  # of a line that was cut
        for word in {word for part in (words, first_half) for word in sorted(part, key=frequency.__getitem__)[:_KEYS]}:
            found[word].append(number)
    return _Index(
        {word: tuple(numbers) for word, numbers in found.items()},
        {name: tuple(known) for name, known in thrown.items()},
    )


@lru_cache(maxsize=4096)
def _pieces(text: str) -> tuple[str, ...]:
    return tuple("".join(piece.split()) for piece in text.split("…"))
