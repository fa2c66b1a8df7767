"""Search of the pages by words as people type them: a title, a line of a log, a part of a stack trace.

The documentation site searches the same data by the same rules, in docs/site/static/messages.js.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from statistics import mean
from typing import Any

from kafka_audit.report.symptoms import SymptomPage, spellings, symptom_pages

_LONGEST = 4000  # characters of what was typed that are read
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|e|s)$", re.ASCII)  # move, moves, moved and moving are one word
_STEM = 6  # letters that tell words apart: connecting, connection, connected
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|-1\b|\b\d{1,3}\b", re.ASCII)  # as in JavaScript
_NAME_OF_ERROR = re.compile(r"[A-Za-z]\w+", re.ASCII)
_SUFFIXES = ("err", "error", "exception")  # with which languages mark the name of an error
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """a an and any apache are as at be been but by can cannot common do does doing error errors exception for from get
        getting has have how i if in info into is issue it its java kafka lang my no not of on one or org problem so
        that the their then there this to via warn was we what when which while why will with you your""",
    )
)
_PLACES = frozenset(
    ["chart", "client", "cluster", "compose", "container", "docker", "helm", "image", "kubernetes", "minikube", "pod", "server"]
)
"""Words that people add to any message, because they say where it appears. They count less."""

_PLACE = 2 / 3
_TITLE, _MESSAGE, _TYPED, _PROSE = 2.0, 2.0, 3.0, 0.5
_PAIR, _NAME = 1.2, 6.0
"""What a word counts in the parts of a page: people's own words most, because they say what a message leads to."""

_ENOUGH_TIMES, _BY_LENGTH = 1.0, 0.5
"""How soon a word that is in many lines of a part counts no more, and how much a long part needs more of it (BM25)."""

_ENOUGH, _ENOUGH_OF_ONE = 7.0, 5.0
"""The score that a page needs: one word of a message that is rare, or several; less if one word is all that was typed."""

_CLEAR, _CLEARLY_MORE = 14.0, 1.5
"""From which score the best page fits; below, its score must be so many times that of the second one."""

_FITS = 9.0
"""What a score must be, times the share of the typed words that are on the page: long texts about other things share some."""


def find_pages(typed: str) -> tuple[SymptomPage, ...]:
    """Return the pages that have the words, the best first; none if none has enough of them."""
    pages, scores = symptom_pages(), _scores(typed)
    enough = _ENOUGH if len(set(_words(typed[:_LONGEST]))) > 1 else _ENOUGH_OF_ONE
    found = sorted((slug for slug in pages if scores[slug] >= enough), key=lambda slug: -scores[slug])
    return tuple(pages[slug] for slug in found)


def is_clear(typed: str) -> bool:
    """Return whether the best page fits what was typed: it is not just the nearest of several, and has enough of the words."""
    scores = _scores(typed)
    slug = max(scores, key=scores.__getitem__)
    best, second, *_ = sorted(scores.values(), reverse=True)
    words = set(_words(typed[:_LONGEST]))
    share = sum(word in _index()[slug].words for word in words) / max(len(words), 1)
    return share * best >= _FITS and (best >= _CLEAR or best >= _CLEARLY_MORE * second)


def _scores(typed: str) -> dict[str, float]:
    asked, names = list(_words(typed[:_LONGEST])), set(_names(typed[:_LONGEST]))
    words, pairs = set(asked), set(pairwise(asked))
    return {
        slug: sum(page.words.get(word, 0.0) for word in words)
        + sum(page.pairs.get(pair, 0.0) for pair in pairs)
        + sum(page.names.get(name, 0.0) for name in names)
        for slug, page in _index().items()
    }


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word not in _COMMON and (len(word) > 1 or word.isdigit()):
            yield _stem(word)


def _stem(word: str) -> str:
    return _ENDING.sub("", word)[:_STEM]


def _names(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each name, which are equal for LEADER_NOT_AVAILABLE and LeaderNotAvailableException."""
    for match in _NAME_OF_ERROR.finditer(text):
        words = (word[0].lower() for word in _WORD.finditer(match[0]))
        yield tuple(_stem(word) for word in words if word not in _SUFFIXES)


@dataclass(frozen=True, kw_only=True)
class _Indexed:
    """What words, pairs of words side by side in a message, and messages that are one name count for a page."""

    words: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float]
    names: Mapping[tuple[str, ...], float]


@cache
def _index() -> Mapping[str, _Indexed]:
    """Return the weights of all pages: the rarer among pages, the more."""
    lines = {slug: _lines(page) for slug, page in symptom_pages().items()}
    parts = {
        slug: [Counter(word for line in part for word in set(_words(line))) for part in page] for slug, page in lines.items()
    }
    average = [mean(part.total() for part in column) for column in zip(*parts.values(), strict=True)]
    rarity = _rarity({slug: {word for part in page for word in part} for slug, page in parts.items()})
    places = {_stem(word) for word in _PLACES}
    pairs = {
        slug: {pair for part in page[:3] for line in part for pair in pairwise(_words(line))} for slug, page in lines.items()
    }
    pair_rarity = _rarity(pairs)
    names = {slug: _names_of(page) for slug, page in symptom_pages().items()}
    name_rarity = _rarity(names)
    found: dict[str, _Indexed] = {}
    for slug in lines:
        words: dict[str, float] = {}
        for part, weight, usual in zip(parts[slug], (_TITLE, _MESSAGE, _TYPED, _PROSE), average, strict=True):
            long = _ENOUGH_TIMES * (1 - _BY_LENGTH + _BY_LENGTH * part.total() / usual)
            for word, times in part.items():
                counted = weight * times * (1 + _ENOUGH_TIMES) / (times + long)
                words[word] = words.get(word, 0.0) + counted * rarity[word] * (_PLACE if word in places else 1)
        found[slug] = _Indexed(
            words=words,
            pairs={pair: _PAIR * pair_rarity[pair] for pair in sorted(pairs[slug])},
            names={name: _NAME * name_rarity[name] for name in names[slug]},
        )
    return found


def _lines(page: SymptomPage) -> tuple[list[str], ...]:
    """Return the parts of a page: its title, its messages, what else people type, and its prose."""
    names = (name for names in page.errors.values() for name in names)
    typed = [words for line in page.typed for words in re.split("[,;] ", line)]
    prose = [page.means, page.normal, page.disagree, str(page.decide)]
    return (
        [page.title, page.slug.replace("-", " ")],
        [*page.kafka, *page.clients, *names],
        [*typed, *page.clients.values()],
        prose,
    )


def _names_of(page: SymptomPage) -> set[tuple[str, ...]]:
    errors = (spelling for names in page.errors.values() for name in names for spelling in spellings(name))
    return {name for text in (*page.messages, *errors) if _NAME_OF_ERROR.fullmatch(text) for name in _names(text)}


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
        "enough": [_ENOUGH, _ENOUGH_OF_ONE],
        "pages": [
            {
                "slug": slug,
                "title": symptom_pages()[slug].title,
                "words": page.words,
                "pairs": {" ".join(pair): weight for pair, weight in page.pairs.items()},
                "names": {" ".join(name): weight for name, weight in page.names.items()},
            }
            for slug, page in _index().items()
        ],
    }
