"""Escapes and character classes of java.util.regex in the words of Python's `re`. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from kafka_audit.configuration.principals.errors import RulesError, UnsupportedError

TERMINATORS = "\\n\\r\\x85\\u2028\\u2029"
AT_END = f"(?:(?=(?:\\r\\n|[{TERMINATORS}])?\\Z)(?!(?<=\\r)\\n))"
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_KINDS = frozenset("dDwWsS")  # the same in both, by re.ASCII
_ILLEGAL = frozenset("gijlmoqyCEFIJKLMOTUY")
_CODE = re.compile(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})|u([0-9A-Fa-f]{4})")
_LARGEST, _SURROGATES = 0x10FFFF, range(0xD800, 0xE000)


def illegal(words: str, pattern: str) -> NoReturn:
    """Raise what Pattern.compile throws, with the pattern in place of the lines that point into it."""
    message = f"{words} in {pattern}"
    raise RulesError(message)


def unknown(what: str, pattern: str) -> NoReturn:
    """Raise the error for what Java may take and nobody here reads."""
    message = f"{what} in the regular expression {pattern}"
    raise UnsupportedError(message)


@dataclass(slots=True)
class Text:
    """A pattern that is being read."""

    pattern: str
    at: int = 0

    def peek(self) -> str:
        """Return the next character, nothing at the end."""
        return self.pattern[self.at : self.at + 1]

    def take(self) -> str:
        """Return the next character and go past it."""
        self.at += 1
        return self.pattern[self.at - 1 : self.at]

    def taken(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        """Go past what an expression matches here."""
        found = expression.match(self.pattern, self.at)
        self.at = found.end() if found else self.at
        return found


def literal(text: Text) -> str | None:
    """Read what follows a backslash where it stands for one character; None, unread, where it stands for more."""
    letter = text.peek()
    if not letter:
        unknown("a backslash at the end", text.pattern)
    if not letter.isascii() or not letter.isalnum():
        return text.take()
    if letter in _CONTROL:
        return _CONTROL[text.take()]
    code = text.taken(_CODE)
    if code is None:
        return None
    number = int(code[1] or code[2] or code[3], 16)
    if number > _LARGEST or number in _SURROGATES:
        unknown(f"the character number {number:x}", text.pattern)
    return chr(number)


def kind(text: Text) -> str | None:
    """Read `d`, `w`, `s` and their opposites after a backslash; None, unread, where it is another."""
    return f"\\{text.take()}" if text.peek() in _KINDS else None


def refuse(text: Text) -> NoReturn:
    """Raise the error for a letter after a backslash that is not read."""
    letter = text.peek()
    if letter in _ILLEGAL:
        illegal("Illegal/unsupported escape sequence", text.pattern)
    unknown(f"\\{letter}", text.pattern)


def character_class(text: Text) -> str:
    """Read a class whose `[` has been read."""
    parts = ["["]
    if text.peek() == "^":
        parts.append(text.take())
    start = len(parts)
    while text.peek() != "]" or len(parts) == start:
        if not text.peek():
            illegal("Unclosed character class", text.pattern)
        parts.append(_item(text))
    text.take()
    return "".join([*parts, "]"])


def _item(text: Text) -> str:
    if text.peek() == "[" or text.pattern.startswith("&&", text.at):
        unknown("a class within a class", text.pattern)
    first = _single(text, kind)
    if len(first) > 1:
        return first
    if text.peek() != "-" or text.pattern[text.at + 1 : text.at + 2] in {"]", "[", ""}:
        return re.escape(first)
    text.take()
    last = _single(text, lambda _: None)
    if last < first:
        illegal("Illegal character range", text.pattern)
    return f"{re.escape(first)}-{re.escape(last)}"


def _single(text: Text, more: Callable[[Text], str | None]) -> str:
    if text.peek() != "\\":
        return text.take()
    text.take()
    found = literal(text) or more(text)
    if found is None:
        refuse(text)
    return found
