"""Escapes and character classes of java.util.regex, written for RE2. Pure."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NoReturn

from kafka_audit.configuration.principals.errors import RulesError, UnsupportedError

Ranges = tuple[tuple[int, int], ...]
"""Code points from and to, both included."""

_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_ILLEGAL = frozenset("gijlmoqyCEFIJKLMOTUY")
_CODE = re.compile(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})|u([0-9A-Fa-f]{4})")
_LARGEST, _SURROGATES, _TWO_UNITS = 0x10FFFF, range(0xD800, 0xE000), 0x10000


def _opposite(ranges: Ranges) -> Ranges:
    found, after = [], 0
    for first, last in sorted(ranges):
        if first > after:
            found.append((after, first - 1))
        after = last + 1
    return (*found, (after, _LARGEST))


# Java's \s has the vertical tab, which RE2's own has not.
_KINDS: dict[str, Ranges] = {
    "d": ((0x30, 0x39),),
    "w": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "s": ((0x09, 0x0D), (0x20, 0x20)),
}
_KINDS |= {letter.upper(): _opposite(ranges) for letter, ranges in _KINDS.items()}
ANY: Ranges = ((0, _LARGEST),)
TERMINATORS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x85, 0x85), (0x2028, 0x2029))
"""What ends a line: a dot does not match it, and `$` holds before the last one."""


def raise_illegal(text: str, pattern: str) -> NoReturn:
    """Raise what Pattern.compile throws, with the pattern in place of the lines that point into it."""
    message = f"{text} in {pattern}"
    raise RulesError(message)


def raise_unsupported(what: str, pattern: str) -> NoReturn:
    """Raise the error for what Java may take and is not read here."""
    message = f"{what} in the regular expression {pattern}"
    raise UnsupportedError(message)


@dataclass(slots=True)
class Text:
    """A pattern that is being read."""

    pattern: str
    at: int = 0
    splits_pairs: bool = False  # whether a class holds halves of characters, which Java can match within a character

    def peek(self) -> str:
        """Return the next character, nothing at the end."""
        return self.pattern[self.at : self.at + 1]

    def take(self) -> str:
        """Return the next character and go past it."""
        self.at += 1
        return self.pattern[self.at - 1 : self.at]

    def taken(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        """Go past what an expression matches here."""
        match = expression.match(self.pattern, self.at)
        self.at = match.end() if match else self.at
        return match


def parse_literal(text: Text) -> str | None:
    """Read the text after a backslash if it means one character; None, unread, if it means more."""
    letter = text.peek()
    if not letter:
        raise_unsupported("a backslash at the end", text.pattern)
    if not letter.isascii() or not letter.isalnum():
        return text.take()
    if letter in _CONTROL:
        return _CONTROL[text.take()]
    code = text.taken(_CODE)
    if code is None:
        return None
    number = int(code[1] or code[2] or code[3], 16)
    if number > _LARGEST or number in _SURROGATES:
        raise_unsupported(f"the character number {number:x}", text.pattern)
    return chr(number)


def kind(text: Text) -> Ranges | None:
    """Read `d`, `w`, `s` and their opposites after a backslash; None, unread, where it is another."""
    return _KINDS[text.take()] if text.peek() in _KINDS else None


def raise_unread_escape(text: Text) -> NoReturn:
    """Raise the error for a letter after a backslash that is not read."""
    letter = text.peek()
    if letter in _ILLEGAL:
        raise_illegal("Illegal/unsupported escape sequence", text.pattern)
    raise_unsupported(f"\\{letter}", text.pattern)


def re2_class(ranges: Iterable[tuple[int, int]], *, any_case: bool = False, negated: bool = False) -> str:
    """Return a class in RE2's syntax.

    Args:
        ranges: what it holds.
        any_case: Java's CASE_INSENSITIVE, which is about ASCII letters only, while RE2's own folds all of Unicode.
        negated: whether it is about everything else.
    """
    held = list(ranges)
    if any_case:
        held += [both for first, last in held for both in _other_case(first, last)]
    return f"[{'^' if negated else ''}{''.join(f'{_code(first)}-{_code(last)}' for first, last in held)}]"


def _other_case(first: int, last: int) -> list[tuple[int, int]]:
    found = []
    for low, high, distance in ((0x41, 0x5A, 0x20), (0x61, 0x7A, -0x20)):
        if (start := max(first, low)) <= (end := min(last, high)):
            found.append((start + distance, end + distance))
    return found


def re2_letter(letter: str, *, any_case: bool) -> str:
    """Return one character in RE2's syntax."""
    if any_case and letter.isascii() and letter.isalpha():
        return f"[{letter.lower()}{letter.upper()}]"
    return letter if letter.isascii() and letter.isalnum() else _code(ord(letter))


def _code(point: int) -> str:
    return f"\\x{{{point:x}}}"


def character_class(text: Text, *, any_case: bool) -> str:
    """Read a class whose `[` has been read and return it in RE2's syntax."""
    negated = text.peek() == "^"
    if negated:
        text.take()
    held: list[tuple[int, int]] = []
    while text.peek() != "]" or not held:
        if not text.peek():
            raise_illegal("Unclosed character class", text.pattern)
        held += _item(text)
    text.take()
    return re2_class(held, any_case=any_case, negated=negated)


def _item(text: Text) -> Ranges:
    if text.peek() == "[" or text.pattern.startswith("&&", text.at):
        raise_unsupported("a nested character class", text.pattern)
    first = _single(text, kind)
    if not isinstance(first, str):
        return first
    if text.peek() != "-" or text.pattern[text.at + 1 : text.at + 2] in {"]", "["}:
        return ((ord(first), ord(first)),)
    text.take()
    if not text.peek():
        raise_illegal("Illegal character range", text.pattern)
    last = _single(text, lambda _: None)
    if not isinstance(last, str):
        raise_unsupported("a range to a class", text.pattern)
    if last < first:
        raise_illegal("Illegal character range", text.pattern)
    if ord(first) < _SURROGATES.stop and _SURROGATES.start <= ord(last) < _TWO_UNITS:
        text.splits_pairs = True
    return ((ord(first), ord(last)),)


def _single(text: Text, more: Callable[[Text], Ranges | None]) -> str | Ranges:
    if text.peek() != "\\":
        return text.take()
    text.take()
    found = parse_literal(text)
    if found is None:
        found_kind = more(text)
        return raise_unread_escape(text) if found_kind is None else found_kind
    return found
