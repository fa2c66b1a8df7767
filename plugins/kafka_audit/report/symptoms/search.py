"""Search of the pages by words as people type them: a title, a line of a log, part of a stack trace, a fault in their own words.

A page is one of an error message, by its slug, or one of a check, by its code.

The documentation site searches the same data by the same rules, in docs/site/static/messages.js.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from statistics import mean
from typing import Any

from kafka_audit.checks import Check, catalogue
from kafka_audit.model.finding import Status
from kafka_audit.report.symptoms import SymptomPage, elsewhere, spellings, symptom_pages

_LONGEST = 4000  # characters of what was typed that are read
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|ions?|e|s)$", re.ASCII)  # move, moves, moved and moving are one word
_STEM = 6  # letters that tell words apart: connecting, connection, connected
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|-1\b|\b\d{1,3}\b", re.ASCII)  # as in JavaScript
_NAME_OF_ERROR = re.compile(r"[A-Za-z]\w+", re.ASCII)
_SUFFIXES = ("err", "error", "exception")  # with which languages mark the name of an error
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """a after again all also am an and any apache are as at be because been being between both but by can cannot common do
        does doing even every error errors exception for from get gets getting got had has have how i if in info into is issue
        it its java just kafka keep keeps lang lot many me my no not of on one or org our problem really same see seem seems so
        some still that the their them then there they this to too use used uses using very via warn was we were what when where
        which while who why will with you your""",
    )
)
_PLACES = frozenset(
    ["chart", "client", "cluster", "compose", "container", "docker", "helm", "image", "kubernetes", "minikube", "pod", "server"]
)
"""Words that people add to any message, because they say where it appears. They count less."""

_PLACE = 2 / 3
_TITLE, _MESSAGE, _TYPED, _PROSE = 2.0, 2.0, 2.0, 0.5
_PAIR, _NAME = 1.2, 6.0
"""What a word counts in the parts of a page."""

_PHRASE = 2.0
"""What the title or phrase of a page counts that shares most with what was typed: words that stand together say more."""

_OF_A_CHECK = 0.8
"""What words count in the page of a check: that of a message leads to several checks, and says which."""

_ENOUGH_TIMES, _BY_LENGTH = 1.0, 0.25
"""How soon a word that is in many lines of a part counts no more, and how much a long part needs more of it (BM25)."""

_ENOUGH, _ENOUGH_OF_ONE = 7.0, 5.0
"""The score that a page needs: one word of a message that is rare, or several; less if one word is all that was typed."""

_CLEAR, _CLEARLY_MORE = 14.0, 1.5
"""From which score the best page fits; below, its score must be so many times that of the second one."""

_NEARLY = 0.7
"""How much of the score of a check a page needs that leads to it."""

_FITS, _FITS_A_CHECK = 11.0, 16.0
"""What a score must be, times the share of the typed words that are on the page: long texts about other things share some.

A check needs more: it has no message that could be quoted.
"""


@dataclass(frozen=True, kw_only=True)
class Search:
    """What is found for what was typed."""

    pages: tuple[str, ...]  # slugs and codes of the pages that have the words, the best first; none if none has enough of them
    is_clear: bool  # the best page, or subject, fits: it is not just the nearest of several, and has enough of the words
    subject: str | None  # what it is about, if that fits better than any page: no page is about it


def search(typed: str) -> Search:
    """Return the pages for what was typed, and whether the best one is about it."""
    words, scores = set(_words(typed[:_LONGEST])), _scores(typed)
    ranked = _ranked(scores)
    enough = _ENOUGH if len(words) > 1 else _ENOUGH_OF_ONE
    is_clear = _is_clear(words, scores, *ranked[:2])
    return Search(
        pages=tuple(slug for slug in ranked if scores[slug] >= enough and slug not in elsewhere()),
        is_clear=is_clear,
        subject=title_of(ranked[0]) if is_clear and ranked[0] in elsewhere() else None,
    )


def _ranked(scores: Mapping[str, float]) -> list[str]:
    """Return the pages, the best first; before that of a check is one of a message that leads to it and fits nearly as well."""
    ranked = sorted(scores, key=lambda slug: -scores[slug])
    best, pages = ranked[0], symptom_pages()
    leads = (slug for slug in ranked[1:4] if slug in pages and best in pages[slug].codes)
    first = next((slug for slug in leads if scores[slug] >= _NEARLY * scores[best]), None)
    return ranked if first is None else [first, *(slug for slug in ranked if slug != first)]


def title_of(slug: str) -> str:
    """Return the title of a page of `Search`: the message, or the fault."""
    return _index()[slug].title


def _is_clear(words: Collection[str], scores: Mapping[str, float], best: str, second: str) -> bool:
    share = sum(word in _index()[best].words for word in words) / max(len(words), 1)
    clearly = scores[best] >= _CLEAR or scores[best] >= _CLEARLY_MORE * scores[second] or _leads(best, second)
    return share * scores[best] >= (_FITS if best in symptom_pages() else _FITS_A_CHECK) and clearly


def _leads(page: str, other: str) -> bool:
    """Return whether one of two pages leads to the other: both are answers."""
    pages = symptom_pages()
    return any(one in pages and two in pages[one].codes for one, two in ((page, other), (other, page)))


def _scores(typed: str) -> dict[str, float]:
    asked = list(_words(typed[:_LONGEST]))
    words, pairs, names = set(asked), set(pairwise(asked)), {*_names(typed[:_LONGEST]), tuple(asked)}
    return {
        slug: sum(page.words.get(word, 0.0) for word in words)
        + sum(page.pairs.get(pair, 0.0) for pair in pairs)
        + sum(page.names.get(name, 0.0) for name in names)
        + page.factor * _PHRASE * max((_shared(words, phrase) for phrase in page.phrases), default=0.0)
        for slug, page in _index().items()
    }


def _shared(words: Collection[str], phrase: Collection[str]) -> float:
    """Return how rare the words are that a phrase shares, times the share of it that they are; one of several is nothing."""
    shared = [_rare()[word] for word in phrase if word in words]
    return sum(shared) * len(shared) / len(phrase) if len(shared) > 1 or len(phrase) == 1 else 0.0


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word not in _COMMON and (len(word) > 1 or word.isdigit()):
            yield _stem(word)


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    stem = _ENDING.sub("", word)[:_STEM]
    return _ALIKE.get(stem, stem)


_ALIKE = {
    word: words[0]
    for words in (
        ("stuck", "hang", "hung", "stall", "frozen", "foreve", "endles", "stand"),
        ("rack", "zone", "az"),
        ("certif", "cert"),
        ("down", "dead", "die", "died", "crash"),
        ("direct", "dir", "folder"),
    )
    for word in words[1:]
}
"""Stems of words that people use for the same thing, each with the one that stands for all of them."""


def _names(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each name, which are equal for LEADER_NOT_AVAILABLE and LeaderNotAvailableException."""
    for match in _NAME_OF_ERROR.finditer(text):
        words = (word[0].lower() for word in _WORD.finditer(match[0]))
        yield tuple(_stem(word) for word in words if word not in _SUFFIXES)


@dataclass(frozen=True, kw_only=True)
class _Indexed:
    """What words, pairs of words side by side, and whole messages, such as the name of an error, count for a page."""

    title: str
    factor: float  # that all counts
    phrases: Collection[Collection[str]]
    words: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float]
    names: Mapping[tuple[str, ...], float]


_Parts = tuple[list[str], list[str], list[str], list[str]]
"""The lines of a page: of its title, which is the first, its messages, what else people type, and its prose."""


@cache
def _index() -> Mapping[str, _Indexed]:
    """Return the weights of all pages: the rarer among pages, the more."""
    return {slug: page for lines, factor in _kinds() for slug, page in _weighed(lines, factor).items()}


@cache
def _kinds() -> tuple[tuple[Mapping[str, _Parts], float], ...]:
    """Return the pages of messages, those of checks, and the subjects, each with what all that it has counts."""
    return (
        ({slug: _lines(page) for slug, page in symptom_pages().items()}, 1.0),
        ({code: _lines_of_check(check) for code, check in catalogue().items()}, _OF_A_CHECK),
        ({slug: ([subject["title"]], [], subject["typed"], []) for slug, subject in elsewhere().items()}, _OF_A_CHECK),
    )


def _weighed(lines: Mapping[str, _Parts], factor: float) -> dict[str, _Indexed]:
    """Return the weights of pages of one kind; all that they have counts `factor` times."""
    parts = {
        slug: [Counter(word for line in part for word in set(_words(line))) for part in page] for slug, page in lines.items()
    }
    average = [mean(part.total() for part in column) or 1 for column in zip(*parts.values(), strict=True)]
    places = {_stem(word) for word in _PLACES}
    pairs = {
        slug: {pair for part in page[:3] for line in part for pair in pairwise(_words(line))} for slug, page in lines.items()
    }
    pair_rarity = _rarity(pairs)
    names = {slug: _names_of(page) for slug, page in symptom_pages().items() if slug in lines}
    name_rarity = _rarity(names)
    found: dict[str, _Indexed] = {}
    for slug, counters in parts.items():
        words: dict[str, float] = {}
        for part, weight, usual in zip(counters, (_TITLE, _MESSAGE, _TYPED, _PROSE), average, strict=True):
            long = _ENOUGH_TIMES * (1 - _BY_LENGTH + _BY_LENGTH * part.total() / usual)
            for word, times in part.items():
                counted = factor * weight * times * (1 + _ENOUGH_TIMES) / (times + long)
                words[word] = words.get(word, 0.0) + counted * _rare()[word] * (_PLACE if word in places else 1)
        found[slug] = _Indexed(
            title=lines[slug][0][0],
            factor=factor,
            phrases=sorted({tuple(dict.fromkeys(_words(line))) for part in lines[slug][::2] for line in part} - {()}),
            words=words,
            pairs={pair: factor * _PAIR * pair_rarity[pair] for pair in sorted(pairs[slug])},
            names={name: _NAME * name_rarity[name] for name in names.get(slug, ())},
        )
    return found


@cache
def _rare() -> Mapping[str, float]:
    """Return how rare each word is among the pages of messages; of others among those of checks, and then among subjects."""
    found: dict[str, float] = {}
    for lines, _ in reversed(_kinds()):
        found |= _rarity(
            {slug: {word for part in page for line in part for word in _words(line)} for slug, page in lines.items()}
        )
    return found


def _lines(page: SymptomPage) -> _Parts:
    names = (name for names in page.errors.values() for name in names)
    typed = [words for line in page.typed for words in re.split("[,;] ", line)]
    prose = [page.means, page.normal, page.disagree, str(page.decide)]
    return (
        [page.title, page.slug.replace("-", " ")],
        [*page.kafka, *page.clients, *names],
        [*typed, *page.clients.values()],
        prose,
    )


def _lines_of_check(check: Check) -> _Parts:
    """Return the parts of the page of a check without its prose, which speaks of all that the fault brings or looks like."""
    says = _VALUE.sub(" ", check.says.get(Status.FAIL, ""))
    return ([check.summary, check.name], [says], [*check.typed], [])


_VALUE = re.compile(r"\{[^{}]*\}")


def _names_of(page: SymptomPage) -> set[tuple[str, ...]]:
    errors = (spelling for names in page.errors.values() for name in names for spelling in spellings(name))
    found = {name for text in (*page.messages, *errors) if _NAME_OF_ERROR.fullmatch(text) for name in _names(text)}
    return found | {words for text in (page.title, *page.kafka, *page.clients) if (words := tuple(_words(text)))}


def _rarity(parts: Mapping[str, Collection[Any]]) -> Mapping[Any, float]:
    """Return how rare each part is among the pages that have it, as BM25 does."""
    counts = Counter(part for page in parts.values() for part in page)
    return {part: math.log(1 + (len(parts) - count + 0.5) / (count + 0.5)) for part, count in counts.items()}


def search_data() -> dict[str, Any]:
    """Return the index and the rules as values of JSON, for the site."""
    return {
        "word": _WORD.pattern,
        "ending": _ENDING.pattern,
        "name": _NAME_OF_ERROR.pattern,
        "suffixes": _SUFFIXES,
        "common": sorted(_COMMON),
        "longest": _LONGEST,
        "stem": _STEM,
        "alike": _ALIKE,
        "nearly": _NEARLY,
        "phrase": _PHRASE,
        "rare": _rare(),
        "enough": [_ENOUGH, _ENOUGH_OF_ONE],
        "pages": [
            {
                "slug": slug,
                "title": page.title,
                "codes": symptom_pages()[slug].codes if slug in symptom_pages() else (),
                "elsewhere": slug in elsewhere(),
                "factor": page.factor,
                "phrases": page.phrases,
                "words": page.words,
                "pairs": {" ".join(pair): weight for pair, weight in page.pairs.items()},
                "names": {" ".join(name): weight for name, weight in page.names.items()},
            }
            for slug, page in _index().items()
        ],
    }
