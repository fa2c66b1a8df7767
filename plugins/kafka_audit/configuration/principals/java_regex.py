"""Regular expressions and replacements as java.util.regex takes them. Pure.

Source: `java.util.regex.Pattern` and `Matcher.appendExpandedReplacement` of Java 17. A pattern is put into the words of Python's
`re`; what the two read differently and is not put into words here raises UnsupportedError, never a wrong answer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from kafka_audit.configuration.principals.errors import MappingError
from kafka_audit.configuration.principals.java_classes import (
    AT_END,
    TERMINATORS,
    Text,
    character_class,
    illegal,
    kind,
    literal,
    refuse,
    unknown,
)

_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)|(\\.)", re.DOTALL)
_COUNT = re.compile(r"\{([0-9]+)(?:,([0-9]*))?(\})?")
_GROUP = re.compile(r"\?(?:([:=!>])|<([A-Za-z][A-Za-z0-9]*)>|([A-Za-z]*)(-[A-Za-z]*)?([:)]))")
_NAMED = re.compile(r"k<([A-Za-z][A-Za-z0-9]*)>")
_NUMBER = re.compile(r"[1-9][0-9]*")
_NAME = re.compile(r"[A-Za-z0-9]*")
_FLAGS = frozenset("is-")
_ENDLESS = frozenset("*+{")
_LARGEST = 2**31 - 1


class JavaPattern:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        """Compile; raises RulesError with Java's words where Java refuses, UnsupportedError where that is not known."""
        reader = _Reader(pattern)
        self.pattern, self._ascii = pattern, reader.ascii_only
        try:
            self._compiled = re.compile(reader.translated, re.ASCII)
        except (re.error, OverflowError, RecursionError) as error:
            unknown(f"something ({error})", pattern)

    def matches(self, text: str) -> re.Match[str] | None:
        """Match the whole text."""
        return self._compiled.fullmatch(self._known(text))

    def looking_at(self, text: str, at: int = 0) -> re.Match[str] | None:
        """Match the beginning."""
        return self._compiled.match(self._known(text), at)

    def find(self, text: str) -> Iterator[re.Match[str]]:
        """Yield one match after the other; after an empty one Java goes a character on, where `re.finditer` would not."""
        at = 0
        while at <= len(text) and (found := self._compiled.search(self._known(text), at)):
            if found.end() == found.start() and text[found.end() : found.end() + 1] > "\uffff":
                unknown("a match of nothing before a letter that Java counts as two", self.pattern)
            yield found
            at = found.end() if found.end() > found.start() else found.end() + 1

    def replaced(self, text: str, replacement: str, *, everywhere: bool = True) -> str:
        """Replace every match or the first one; raises MappingError where Java throws."""
        parts, at = [], 0
        for found in self.find(text):
            parts += [text[at : found.start()], expanded(found, replacement)]
            at = found.end()
            if not everywhere:
                break
        return "".join([*parts, text[at:]])

    def _known(self, text: str) -> str:
        if self._ascii and not text.isascii():
            unknown("a word boundary beside letters that are not ASCII, on which versions of Java differ,", self.pattern)
        return text


@lru_cache(maxsize=256)
def compiled(pattern: str) -> JavaPattern:
    """Return a pattern, compiled once."""
    return JavaPattern(pattern)


@dataclass(slots=True)
class _Open:
    """A group that is being read: whether a dot took line ends before it, and of what is inside, flags and repetitions."""

    dot_all: bool
    flags: list[str] = field(default_factory=list)
    repeats: bool = False


class _Reader:
    """Puts one pattern into Python's words, from left to right."""

    def __init__(self, pattern: str) -> None:
        self.text = Text(_QUOTED.sub(_unquoted, pattern))
        self.pattern = pattern
        self.groups = 0
        self.ascii_only = False
        self.dot_all = False
        self._open = [_Open(dot_all=False)]
        self.translated = "".join(self._parts())

    def _parts(self) -> Iterator[str]:
        while letter := self.text.take():
            if letter in "*+?":
                illegal(f"Dangling meta character '{letter}'", self.pattern)
            if letter == "(":
                yield self._group()
            elif letter == "|":
                flags = self._open[-1].flags
                yield ")" * len(flags) + "|" + "".join(flags)
            elif letter == ")":
                yield self._closed()
            elif letter == "{":
                self.text.at -= 1
                self._counted()
                unknown("a count of nothing", self.pattern)
            else:
                yield self._atom(letter) + self._closure()
        if len(self._open) > 1:
            illegal("Unclosed group", self.pattern)
        yield ")" * len(self._open[-1].flags)

    def _atom(self, letter: str) -> str:
        if letter == "\\":
            return self._escape()
        if letter == "[":
            return character_class(self.text)
        if letter == ".":
            return "[\\s\\S]" if self.dot_all else f"[^{TERMINATORS}]"
        return {"^": "\\A", "$": AT_END}.get(letter) or re.escape(letter)

    def _escape(self) -> str:
        found = literal(self.text)
        if found is not None:
            return re.escape(found)
        if (found := kind(self.text)) is not None:
            return found
        if number := self.text.taken(_NUMBER):
            return self._reference(number[0])
        if name := self.text.taken(_NAMED):
            return f"(?P={name[1]})"
        letter = self.text.peek()
        if letter in {"b", "B"}:
            self.ascii_only = True
        elif letter not in {"A", "z", "Z"}:
            refuse(self.text)
        return {"A": "\\A", "z": "\\Z", "Z": AT_END}.get(self.text.take()) or f"\\{letter}"

    def _reference(self, digits: str) -> str:
        used = 1
        while used < len(digits) and int(digits[: used + 1]) <= self.groups:
            used += 1
        self.text.at -= len(digits) - used
        return f"(?:\\{digits[:used]})"

    def _group(self) -> str:
        if self.text.peek() != "?":
            self.groups += 1
            self._open.append(_Open(dot_all=self.dot_all))
            return "("
        found = self.text.taken(_GROUP)
        if found is None:
            unknown("a group that begins with (?", self.pattern)
        if found[1] is None and found[2] is None:
            return self._flags(found[3], found[4] or "", alone=found[5] == ")")
        self.groups += found[2] is not None
        self._open.append(_Open(dot_all=self.dot_all))
        return f"(?P<{found[2]}>" if found[2] else f"(?{found[1]}"

    def _flags(self, on: str, off: str, *, alone: bool) -> str:
        if not _FLAGS.issuperset(on + off):
            unknown(f"a flag of (?{on}{off})", self.pattern)
        before = self.dot_all
        if "s" in on + off:
            self.dot_all = "s" not in off
        case = "(?-i:" if "i" in off else "(?i:" if "i" in on else "(?:"
        if alone:
            self._open[-1].flags.append(case)  # Java lets it hold up to the end of the group
        else:
            self._open.append(_Open(dot_all=before))
        return case

    def _closed(self) -> str:
        if len(self._open) == 1:
            illegal("Unmatched closing ')'", self.pattern)
        closed = self._open.pop()
        self.dot_all = closed.dot_all
        again = self._closure()
        # Such patterns can take longer than anybody waits, in Java as well as here.
        if closed.repeats and again[:1] in _ENDLESS:
            unknown("a repetition of repetitions", self.pattern)
        self._open[-1].repeats |= closed.repeats
        return ")" * (1 + len(closed.flags)) + again

    def _closure(self) -> str:
        if self.text.peek() == "{":
            found = self._counted()
        elif self.text.peek() in {"*", "+", "?"}:
            found = self.text.take()
        else:
            return ""
        self._open[-1].repeats |= found[0] in _ENDLESS
        return found + (self.text.take() if self.text.peek() in {"?", "+"} else "")

    def _counted(self) -> str:
        count = self.text.taken(_COUNT)
        if count is None:
            illegal("Illegal repetition", self.pattern)
        least, most = int(count[1]), int(count[2] or _LARGEST)
        if max(least, most) > _LARGEST or (count[3] and most < least):
            illegal("Illegal repetition range", self.pattern)
        if count[3] is None:
            illegal("Unclosed counted closure", self.pattern)
        return count[0]


def _unquoted(found: re.Match[str]) -> str:
    return found[2] or "".join(one if one.isalnum() or not one.isascii() else f"\\{one}" for one in found[1])


def expanded(found: re.Match[str], replacement: str) -> str:
    """Return a replacement with `$1`, `${name}` and backslashes done; raises MappingError where Java throws."""
    parts, text = [], Text(replacement)
    while letter := text.take():
        if letter == "\\":
            if not text.peek():
                message = "character to be escaped is missing"
                raise MappingError(message)
            parts.append(text.take())
        else:
            parts.append(_referred(found, text) if letter == "$" else letter)
    return "".join(parts)


def _referred(found: re.Match[str], text: Text) -> str:
    """Return what a reference whose `$` has been read stands for; a group that took no part stands for nothing."""
    letter = text.take()
    if not letter:
        message = "Illegal group reference: group index is missing"
        raise MappingError(message)
    if letter == "{":
        return found[_name(found, text)] or ""
    if letter not in "0123456789":
        message = "Illegal group reference"
        raise MappingError(message)
    number, groups = int(letter), found.re.groups
    while (digit := text.peek()) and digit in "0123456789" and number * 10 + int(digit) <= groups:
        number = number * 10 + int(text.take())
    if number > groups:
        message = f"No group {number}"
        raise MappingError(message)
    return found[number] or ""


def _name(found: re.Match[str], text: Text) -> str:
    taken = text.taken(_NAME)
    name = taken[0] if taken else ""
    if not name:
        message = "named capturing group has 0 length name"
    elif text.take() != "}":
        message = "named capturing group is missing trailing '}'"
    elif name[0].isdigit():
        message = f"capturing group name {{{name}}} starts with digit character"
    elif name not in found.re.groupindex:
        message = f"No group with name {{{name}}}"
    else:
        return name
    raise MappingError(message)
