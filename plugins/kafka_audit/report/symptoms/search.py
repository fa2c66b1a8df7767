"""Search of the pages by words as people type them: a title, a line of a log, a part of a stack trace."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from kafka_audit.report.symptoms import SymptomPage, symptom_pages

_LONGEST = 4000  # characters of what was typed that are read
_STEM = 6  # letters that tell words apart: connecting, connection, connected
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|-1\b|\b\d{1,3}\b")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """a an and any apache are as at be been but by can cannot common do does doing error errors exception for from get
        getting has have how i if in info into is issue it its java kafka lang my no not of on one or org problem so
        that the their then there this to via warn was we what when which while why will with you your""",
    )
)
_MESSAGE, _PROSE = 3.0, 1.0
_ENOUGH, _ENOUGH_OF_ONE = 9.0, 6.0
"""The score that a page needs: one word of a message that is rare, or several; less if one word is all that was typed."""


def find_pages(typed: str) -> tuple[SymptomPage, ...]:
    """Return the pages that have the words, the best first; none if none has enough of them."""
    pages = symptom_pages()
    asked = list(_words(typed[:_LONGEST]))
    scores = {slug: _score(asked, slug) for slug in pages}
    enough = _ENOUGH if len(set(asked)) > 1 else _ENOUGH_OF_ONE
    found = sorted((slug for slug in pages if scores[slug] >= enough), key=lambda slug: -scores[slug])
    return tuple(pages[slug] for slug in found)


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word not in _COMMON and (len(word) > 1 or word.isdigit()):
            yield word[:_STEM]


def _score(asked: list[str], slug: str) -> float:
    """Return how well a page fits: its rare words, more if in a message, and pairs that are side by side there."""
    indexed, rarity = _index()
    messages, prose, pairs = indexed[slug]
    words = sum(rarity[word] * (_MESSAGE if word in messages else _PROSE) for word in set(asked) & (messages | prose))
    return words + sum(rarity[one] + rarity[two] for one, two in set(pairwise(asked)) & pairs)


_Indexed = tuple[frozenset[str], frozenset[str], frozenset[tuple[str, str]]]
"""The words of a page's messages, those of its prose, and pairs of words of its messages."""


@cache
def _index() -> tuple[Mapping[str, _Indexed], Mapping[str, float]]:
    pages = symptom_pages()
    found: dict[str, _Indexed] = {}
    for slug, page in pages.items():
        messages = [list(_words(message)) for message in (*page.messages, *page.clients.values(), slug.replace("-", " "))]
        prose = frozenset(_words(f"{page.means} {page.normal} {page.disagree} {page.decide}"))
        pairs = frozenset(pair for words in messages for pair in pairwise(words))
        found[slug] = (frozenset(word for words in messages for word in words), prose, pairs)
    counts = Counter(word for messages, prose, _ in found.values() for word in messages | prose)
    return found, {word: math.log(1 + len(pages) / count) for word, count in counts.items()}
