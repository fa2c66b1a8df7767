"""Search of the pages by words as people type them: a title, a line of a log, a part of a stack trace.

The documentation site searches the same data by the same rules, in docs/site/static/messages.js.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
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
_PLACES = ("chart", "client", "cluster", "compose", "container", "docker", "helm", "image", "kubernetes", "minikube", "pod", "server")
"""Words that people add to any message, because they say where it appears. They count less."""

_PLACE = 2 / 3
_MESSAGE, _PROSE = 3.0, 1.0
_LENGTH = 0.1
"""The part of a score that depends on how many words the messages of a page have: by chance, many have more of those typed."""

_ENOUGH, _ENOUGH_OF_ONE = 9.0, 6.0
"""The score that a page needs: one word of a message that is rare, or several; less if one word is all that was typed."""


def find_pages(typed: str) -> tuple[SymptomPage, ...]:
    """Return the pages that have the words, the best first; none if none has enough of them."""
    pages = symptom_pages()
    asked = list(_words(typed[:_LONGEST]))
    named = set(_names(typed[:_LONGEST]))
    scores = {slug: _score(asked, named, slug) for slug in pages}
    enough = _ENOUGH if len(set(asked)) > 1 else _ENOUGH_OF_ONE
    found = sorted((slug for slug in pages if scores[slug] >= enough), key=lambda slug: -scores[slug])
    return tuple(pages[slug] for slug in found)


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


def _score(asked: list[str], named: set[tuple[str, ...]], slug: str) -> float:
    """Return how well a page fits: its rare words, more if in a message, pairs that are side by side there, and whole names.

    A page with more words than others needs a little more of them.
    """
    page, rarity = _index()[slug], _rarity()
    words = sum(rarity[word] * (_MESSAGE if word in page.messages else _PROSE) for word in set(asked) & page.words)
    pairs = sum(rarity[one] + rarity[two] for one, two in set(pairwise(asked)) & page.pairs)
    names = sum(_MESSAGE * rarity.get(word, 0) for name in named & page.names for word in name)
    return (words + pairs + names) / _lengths()[slug]


@dataclass(frozen=True, kw_only=True)
class _Indexed:
    """The words of a page, those of its messages, pairs of words of its messages, and messages that are one name."""

    words: frozenset[str]
    messages: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    names: frozenset[tuple[str, ...]]


@cache
def _index() -> Mapping[str, _Indexed]:
    found: dict[str, _Indexed] = {}
    for slug, page in symptom_pages().items():
        messages = [list(_words(message)) for message in (*page.messages, *page.clients.values(), slug.replace("-", " "))]
        words = frozenset(word for message in messages for word in message)
        prose = frozenset(_words(f"{page.means} {page.normal} {page.disagree} {page.decide}"))
        pairs = frozenset(pair for message in messages for pair in pairwise(message))
        errors = (spelling for names in page.errors.values() for name in names for spelling in spellings(name))
        whole = (text for text in (*page.messages, *errors) if _NAME_OF_ERROR.fullmatch(text))
        names = frozenset(name for text in whole for name in _names(text))
        found[slug] = _Indexed(words=words | prose, messages=words, pairs=pairs, names=names)
    return found


@cache
def _rarity() -> Mapping[str, float]:
    counts = Counter(word for page in _index().values() for word in page.words)
    places = {_stem(word) for word in _PLACES}
    return {word: math.log(1 + len(_index()) / count) * (_PLACE if word in places else 1) for word, count in counts.items()}


@cache
def _lengths() -> Mapping[str, float]:
    average = mean(len(page.messages) for page in _index().values())
    return {slug: 1 - _LENGTH + _LENGTH * len(page.messages) / average for slug, page in _index().items()}


def search_data() -> dict[str, Any]:
    """Return the index and the rules as values of JSON, for the site."""
    return {
        "word": _WORD.pattern,
        "common": sorted(_COMMON),
        "longest": _LONGEST,
        "ending": _ENDING.pattern,
        "name": _NAME_OF_ERROR.pattern,
        "suffixes": _SUFFIXES,
        "stem": _STEM,
        "weights": [_MESSAGE, _PROSE],
        "enough": [_ENOUGH, _ENOUGH_OF_ONE],
        "rarity": _rarity(),
        "pages": [
            {
                "slug": slug,
                "title": symptom_pages()[slug].title,
                "length": _lengths()[slug],
                "words": sorted(page.words),
                "messages": sorted(page.messages),
                "pairs": sorted(map(" ".join, page.pairs)),
                "names": sorted(map(" ".join, page.names)),
            }
            for slug, page in _index().items()
        ],
    }
