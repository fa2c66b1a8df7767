"""Regular expressions and replacements as java.util.regex takes them, matched in linear time by RE2. Pure.

Source: `java.util.regex.Pattern` and `Matcher.appendExpandedReplacement` of Java 17. A pattern comes from a broker or a file, so
its cost must be linear: the matchers of Java and Python try every possible match, and `(.|..)*#` has
more of them than there is time. RE2 finds the same match as they do (the first by the order of alternatives), or does not know
the construct. What it does not know, or Java reads differently, raises UnsupportedError, never a wrong answer.
`python -m testbed.regexes` holds this module against Java.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kafka_audit.configuration.principals.errors import MappingError
from kafka_audit.configuration.principals.java_classes import (
    ANY,
    TERMINATORS,
    Text,
    character_class,
    kind,
    parse_literal,
    raise_illegal,
    raise_unread_escape,
    raise_unsupported,
    re2_class,
    re2_letter,
)

LONGEST = 1000
"""Characters of a pattern and of a name. Java's matcher calls itself for each step of a repeated group, and its stack ends at
about 1,300 of them on a broker's threads."""

MOST_STEPS = 10_000_000
"""The limit for one name through all rules, in characters times instructions; a step takes 1 to 25 ns. 200 rules of
100 instructions for a name of 200 characters need 4,000,000."""

_MEMORY = 1024 * 1024  # of one pattern: 10,000 instructions; what is larger RE2 refuses
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)|(\\.)", re.DOTALL)
_COUNT = re.compile(r"\{([0-9]+)(?:,([0-9]*))?(\})?")
_GROUP = re.compile(r"\?(?:([:=!>])|<([A-Za-z][A-Za-z0-9]*)>|([A-Za-z]*)(-[A-Za-z]*)?([:)]))")
_NUMBER = re.compile(r"[1-9][0-9]*")
_NAME = re.compile(r"[A-Za-z0-9]*")
_FLAGS = frozenset("is-")
_GROUP_NAMES = {"=": "a lookahead", "!": "a lookahead", ">": "an atomic group"}
_LARGEST = 2**31 - 1
_FOLDED = frozenset("\u017f\u212a")  # [sS] may become s in any case in RE2, which is Unicode's
_ENDS = frozenset(chr(point) for first, last in TERMINATORS for point in range(first, last + 1))


@dataclass(slots=True)
class Effort:
    """What may still be spent on matching."""

    steps: int = MOST_STEPS

    def spend(self, pattern: "JavaPattern", characters: int) -> None:
        """Count one search through a text; raises UnsupportedError when nothing is left."""
        self.steps -= pattern.size * (characters + 1)
        if self.steps < 0:
            raise_unsupported("more work than is done for one name", pattern.pattern)


@dataclass(frozen=True, slots=True)
class RegexMatch:
    """Where a pattern matched: from and to of the whole (0) and of each group; (-1, -1) of one that took no part."""

    text: str
    spans: tuple[tuple[int, int], ...]
    names: Mapping[str, int]

    @property
    def groups(self) -> int:
        """Return how many groups the pattern has."""
        return len(self.spans) - 1

    @property
    def start(self) -> int:
        """Return where the match begins."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Return where the match ends."""
        return self.spans[0][1]

    def __getitem__(self, group: int) -> str | None:
        """Return what a group matched, None where it took no part."""
        start, end = self.spans[group]
        return None if start < 0 else self.text[start:end]


class JavaPattern:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        """Compile; raises RulesError with Java's words where Java refuses, UnsupportedError where that is not known."""
        if len(pattern) > LONGEST:
            raise_unsupported(f"more than {LONGEST} characters", f"{pattern[:40]}…")
        reader = _RegexParser(pattern)
        self.pattern, self._reader = pattern, reader
        import re2  # noqa: PLC0415 -- Spark's driver imports all checks, may run without re2, and matches nothing

        options = re2.Options()
        options.max_mem, options.log_errors = _MEMORY, False
        try:
            self._compiled = re2.compile(reader.translated, options)
        except (re2.error, UnicodeEncodeError) as error:
            raise_unsupported(f"something ({error})", pattern)
        self._groups: int = self._compiled.groups
        self._names: Mapping[str, int] = self._compiled.groupindex
        self.size: int = self._compiled.programsize * (1 + self._groups // 8)  # RE2 copies groups at each step

    def matches(self, text: str, effort: Effort | None = None) -> RegexMatch | None:
        """Match the whole text. `effort` is the limit; None is for Kafka's own patterns."""
        self._refuse(text)
        return self._found(self._compiled.fullmatch, text, 0, effort)

    def looking_at(self, text: str, effort: Effort | None = None) -> RegexMatch | None:
        """Match the beginning."""
        self._refuse(text)
        return self._found(self._compiled.match, text, 0, effort)

    def find(self, text: str, effort: Effort | None = None) -> Iterator[RegexMatch]:
        """Yield one match after the other; after an empty one Java goes a character on."""
        self._refuse(text)
        at = 0
        while at <= len(text) and (found := self._found(self._compiled.search, text, at, effort)):
            if found.end == found.start and text[found.end : found.end + 1] > "\uffff":
                raise_unsupported("a match of nothing before a letter that Java counts as two", self.pattern)
            yield found
            at = found.end if found.end > found.start else found.end + 1

    def replaced(self, text: str, replacement: str, effort: Effort | None = None, *, everywhere: bool = True) -> str:
        """Replace every match or the first one; raises MappingError where Java throws."""
        parts, at, length = [], 0, 0
        for match in self.find(text, effort):
            parts += [text[at : match.start], expanded(match, replacement)]
            at = match.end
            length += len(parts[-1])
            if effort is not None and length > LONGEST:
                raise_unsupported(f"a name of more than {LONGEST} characters by the replacement of", self.pattern)
            if not everywhere:
                break
        return "".join([*parts, text[at:]])

    def _found(self, search: Callable[[str, int], Any], text: str, at: int, effort: Effort | None) -> RegexMatch | None:
        if effort is not None:
            if len(text) > LONGEST:
                raise_unsupported(f"a name of more than {LONGEST} characters", self.pattern)
            effort.spend(self, len(text) - at)
        found = search(text, at)
        if found is None:
            return None
        return RegexMatch(text, tuple(found.span(group) for group in range(self._groups + 1)), self._names)

    def _refuse(self, text: str) -> None:
        """Raise UnsupportedError for a text that this pattern may read otherwise in Java."""
        reader = self._reader
        if reader.ends and text[-1:] in _ENDS:
            raise_unsupported("an end before the end of a line", self.pattern)
        if text.isascii():
            return
        if reader.ascii_only:
            raise_unsupported(
                "a word boundary beside letters that are not ASCII, on which versions of Java differ,", self.pattern
            )
        if not _FOLDED.isdisjoint(text):
            raise_unsupported("a sign that RE2 takes for an S or a K", self.pattern)
        if reader.text.splits_pairs and any(letter > "\uffff" for letter in text):
            raise_unsupported("halves of letters that Java counts as two", self.pattern)
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise_unsupported("half a letter before a match", self.pattern)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> JavaPattern:
    """Return a pattern, compiled once."""
    return JavaPattern(pattern)


@dataclass(slots=True)
class _Open:
    """A group that is being read.

    Attributes:
        any_case: whether letters matched in any case before it.
        dot_all: whether a dot matched ends of lines before it.
        captures: whether it is one that `$1` may mean.
        holds_captures: whether such a group is inside.
        some_empty: whether an alternative may match nothing.
        empty: whether this one may, as far as it is read.
    """

    any_case: bool
    dot_all: bool
    captures: bool = False
    holds_captures: bool = False
    some_empty: bool = False
    empty: bool = True

    @property
    def nullable(self) -> bool:
        return self.some_empty or self.empty


class _RegexParser:
    """Puts one pattern into RE2's words, from left to right."""

    def __init__(self, pattern: str) -> None:
        self.text = Text(_QUOTED.sub(_unquoted, pattern))
        self.pattern = pattern
        self.ascii_only = self.ends = self.any_case = self.dot_all = False
        self._names: set[str] = set()
        self._open = [_Open(any_case=False, dot_all=False)]
        self.translated = "".join(self._parts())

    def _parts(self) -> Iterator[str]:
        while letter := self.text.take():
            if letter in "*+?":
                raise_illegal(f"Dangling meta character '{letter}'", self.pattern)
            if letter == "(":
                yield self._group()
            elif letter == "|":
                inner = self._open[-1]
                inner.some_empty, inner.empty = inner.nullable, True
                yield "|"
            elif letter == ")":
                yield self._closed()
            elif letter == "{":
                self.text.at -= 1
                self._counted()
                raise_unsupported("a count of nothing", self.pattern)
            else:
                atom, empty = self._atom(letter)
                yield atom + self._closure(empty=empty)
        if len(self._open) > 1:
            raise_illegal("Unclosed group", self.pattern)

    def _atom(self, letter: str) -> tuple[str, bool]:
        """Return what matches one character or one place, and whether it is a place."""
        if letter == "\\":
            return self._escape()
        if letter == "[":
            return character_class(self.text, any_case=self.any_case), False
        if letter == ".":
            return re2_class(ANY) if self.dot_all else re2_class(TERMINATORS, negated=True), False
        if letter == "^":
            return "\\A", True
        if letter == "$":
            self.ends = True
            return "\\z", True
        return re2_letter(letter, any_case=self.any_case), False

    def _escape(self) -> tuple[str, bool]:
        found = parse_literal(self.text)
        if found is not None:
            return re2_letter(found, any_case=self.any_case), False
        if (ranges := kind(self.text)) is not None:
            return re2_class(ranges), False
        letter = self.text.peek()
        if letter == "k" or self.text.taken(_NUMBER):
            raise_unsupported("a backreference", self.pattern)
        if letter not in {"A", "z", "Z", "b", "B"}:
            raise_unread_escape(self.text)
        self.ascii_only |= letter in {"b", "B"}
        self.ends |= letter == "Z"
        self.text.take()
        return f"\\{'z' if letter == 'Z' else letter}", True

    def _group(self) -> str:
        if self.text.peek() != "?":
            self._opened(captures=True)
            return "("
        match = self.text.taken(_GROUP)
        if match is None:
            raise_unsupported("a group that begins with (?", self.pattern)
        if match[1] in _GROUP_NAMES:
            raise_unsupported(_GROUP_NAMES[match[1]], self.pattern)
        if match[1] is None and match[2] is None:
            self._flags(match[3], match[4] or "", alone=match[5] == ")")
            return "" if match[5] == ")" else "(?:"
        if match[2] in self._names:
            raise_illegal(f"Named capturing group <{match[2]}> is already defined", self.pattern)
        self._names |= {match[2]} if match[2] else set()
        self._opened(captures=match[2] is not None)
        return f"(?P<{match[2]}>" if match[2] else "(?:"

    def _opened(self, *, captures: bool) -> None:
        self._open.append(_Open(any_case=self.any_case, dot_all=self.dot_all, captures=captures))

    def _flags(self, on: str, off: str, *, alone: bool) -> None:
        """Change flags, for a separate group or up to the end of this one."""
        if not _FLAGS.issuperset(on + off):
            raise_unsupported(f"a flag of (?{on}{off})", self.pattern)
        if not alone:
            self._opened(captures=False)
        if "s" in on + off:
            self.dot_all = "s" not in off
        if "i" in on + off:
            self.any_case = "i" not in off

    def _closed(self) -> str:
        if len(self._open) == 1:
            raise_illegal("Unmatched closing ')'", self.pattern)
        closed = self._open.pop()
        self.any_case, self.dot_all = closed.any_case, closed.dot_all
        self._open[-1].holds_captures |= closed.captures or closed.holds_captures
        return ")" + self._closure(empty=closed.nullable, holds_captures=closed.holds_captures)

    def _closure(self, *, empty: bool, holds_captures: bool = False) -> str:
        """Read the quantifier of the last element; `empty`: the element may match nothing."""
        least, most, found = 1, 1, ""
        if self.text.peek() == "{":
            least, most, found = self._counted()
        elif self.text.peek() in {"*", "+", "?"}:
            found = self.text.take()
            least, most = int(found == "+"), 1 if found == "?" else _LARGEST
        if found and self.text.peek() == "+":
            raise_unsupported("a possessive quantifier", self.pattern)
        if found and self.text.peek() == "?":
            found += self.text.take()
        if empty and most > 1:
            raise_unsupported("a repeated group that can match an empty string", self.pattern)
        if holds_captures and found not in {"", "?", "??"}:
            # Where Java gives back a round of a repeated group, even the only one of {1}, groups in it keep what they matched.
            raise_unsupported("a group within a repeated group", self.pattern)
        self._open[-1].empty &= empty or not least
        return found

    def _counted(self) -> tuple[int, int, str]:
        count = self.text.taken(_COUNT)
        if count is None:
            raise_illegal("Illegal repetition", self.pattern)
        least = int(count[1])
        most = least if count[2] is None else int(count[2] or _LARGEST)
        if max(least, most) > _LARGEST or (count[3] and most < least):
            raise_illegal("Illegal repetition range", self.pattern)
        if count[3] is None:
            raise_illegal("Unclosed counted closure", self.pattern)
        return least, most, count[0]


def _unquoted(match: re.Match[str]) -> str:
    return match[2] or "".join(c if c.isalnum() or not c.isascii() else f"\\{c}" for c in match[1])


def expanded(match: RegexMatch, replacement: str) -> str:
    """Return a replacement with `$1`, `${name}` and backslashes done; raises MappingError where Java throws."""
    parts, text = [], Text(replacement)
    while letter := text.take():
        if letter == "\\":
            if not text.peek():
                message = "character to be escaped is missing"
                raise MappingError(message)
            parts.append(text.take())
        else:
            parts.append(_referred(match, text) if letter == "$" else letter)
    return "".join(parts)


def _referred(match: RegexMatch, text: Text) -> str:
    """Return the text of a reference whose `$` has been read; a group without a match is empty."""
    letter = text.take()
    if not letter:
        message = "Illegal group reference: group index is missing"
        raise MappingError(message)
    if letter == "{":
        return match[match.names[_name(match, text)]] or ""
    if letter not in "0123456789":
        message = "Illegal group reference"
        raise MappingError(message)
    number, groups = int(letter), match.groups
    while (digit := text.peek()) and digit in "0123456789" and number * 10 + int(digit) <= groups:
        number = number * 10 + int(text.take())
    if number > groups:
        message = f"No group {number}"
        raise MappingError(message)
    return match[number] or ""


def _name(match: RegexMatch, text: Text) -> str:
    taken = text.taken(_NAME)
    name = taken[0] if taken else ""
    if not name:
        message = "named capturing group has 0 length name"
    elif text.take() != "}":
        message = "named capturing group is missing trailing '}'"
    elif name[0].isdigit():
        message = f"capturing group name {{{name}}} starts with digit character"
    elif name not in match.names:
        message = f"No group with name {{{name}}}"
    else:
        return name
    raise MappingError(message)
