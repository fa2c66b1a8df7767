"""Commands and settings that a remedy proposes, as values: the words of a command, the key and the value of a setting.

A template is text of ours. It is split into words before its placeholders are filled, so that a value of a cluster is a word, or
a part of one, and never a second word, an option or syntax. `quoting` writes the values for a shell, a file or a page, last.
What a value cannot fill is its placeholder in capitals: a word of that name creates and runs nothing when it is copied.
"""

import functools
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kafka_audit.model.text import is_plain_word

LONGEST_VALUE = 1000
"""Characters of a value in a command or a setting; a longer one is never cut, its placeholder is printed instead."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_PIECES = re.compile(r"^ {4}(?P<line>\S(?:.*\\\n)*.*)$|`(?P<span>[^`]*)`", re.MULTILINE)
_TOOL = re.compile(
    r"(?:[a-z-]+\.sh|kafka-audit|nc|echo|grep|openssl|getent|traceroute|hostname|kcat|ss|du|df|dmesg|findmnt|iostat|sar|jstat)(?!\S)"
)
_SETTING = re.compile(r"([\w.{}-]+)=(.*)")
_PIPE = "|"


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command, or several that a pipe joins.

    Attributes:
        stages: the words of each command, as the program receives them.
        withheld: placeholders in it that stand for a value which cannot be printed.
        own_line: whether a page shows it on a line of its own.
    """

    stages: tuple[tuple[str, ...], ...]
    withheld: tuple[str, ...] = ()
    own_line: bool = False


@dataclass(frozen=True, kw_only=True)
class SettingLine:
    """A line of a configuration; `file` is `properties`, or `yaml` for the cluster file, where a value may be a list."""

    key: str
    value: str | tuple[str, ...]
    file: str = "properties"
    withheld: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CommentLine:
    """A comment between commands or settings."""

    words: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Code:
    """A name of Kafka's, a file or a part of a command, in a sentence."""

    text: str


Line = Command | SettingLine | CommentLine
Part = str | Code | Command | SettingLine | CommentLine
Prose = tuple[Part, ...]
"""Sentences, with the code in them as values."""


def command(template: str, **values: object) -> Command:
    """Return the command of a template whose placeholders are filled; `|` joins commands."""
    return _command(template, {name: str(value) for name, value in values.items()})


def continued(start: Command, template: str, **values: object) -> Command:
    """Return a command with the words of a template after its own."""
    more = command(template, **values)
    *stages, last = start.stages
    first, *others = more.stages
    return Command(stages=(*stages, (*last, *first), *others), withheld=(*start.withheld, *more.withheld))


def setting(key: str, value: str) -> SettingLine:
    """Return a line of server.properties; what cannot be printed of it is withheld."""
    names = [name for name, text in (("KEY", key), ("VALUE", value)) if not _is_printable(text)]
    return SettingLine(key="KEY" if "KEY" in names else key, value="VALUE" if "VALUE" in names else value, withheld=tuple(names))


def remark(template: str, **values: object) -> CommentLine:
    """Return a comment; its placeholders are filled word by word, as those of a command."""
    return CommentLine(words=_Filling({name: str(value) for name, value in values.items()}).words(template.split()))


def prose(template: str, texts: Mapping[str, str], words: Mapping[str, str]) -> Prose:
    """Return the sentences of a page with its placeholders filled.

    Args:
        template: with commands and names between backticks, or commands on lines that are indented by four blanks.
        texts: values for sentences, by placeholder; one without a value stays.
        words: values for words of commands and settings.
    """
    parts: list[Part] = []
    for piece, is_code, own_line in _pieces(template):
        if is_code:
            part = _code(piece, words)
            parts.append(replace(part, own_line=True) if own_line and isinstance(part, Command) else part)
        else:
            parts.append(_PLACEHOLDER.sub(lambda match: texts.get(match[1], match[0]), piece))
    return tuple(parts)


def placeholder(name: str) -> str:
    """Return what stands for a value in a page or a command: its name in capitals."""
    return name.upper()


def named_placeholders(page: str) -> str:
    """Return a page whose placeholders are named, for readers who have no value for them."""
    return _PLACEHOLDER.sub(lambda match: placeholder(match[1]), page)


@functools.cache
def _pieces(template: str) -> tuple[tuple[str, bool, bool], ...]:
    found: list[tuple[str, bool, bool]] = []
    at = 0
    for match in _PIECES.finditer(template):
        own_line = match["line"] is not None
        start = match.start("line") if own_line else match.start()
        found += [(template[at:start], False, False), (match["line"] if own_line else match["span"], True, own_line)]
        at = match.end()
    return tuple(piece for piece in (*found, (template[at:], False, False)) if piece[0])


def _code(span: str, values: Mapping[str, str]) -> Code | Command | SettingLine:
    if _TOOL.match(span):
        return _command(span, values)
    match = _SETTING.fullmatch(span)
    filling = _Filling(values)
    if match is None or not _PLACEHOLDER.search(span):
        return Code(text=filling.within(span))
    key, value = filling.word(match[1]), filling.word(match[2])
    return SettingLine(key=key, value=value, withheld=tuple(filling.withheld))


def _command(template: str, values: Mapping[str, str]) -> Command:
    filling = _Filling(values)
    stages = tuple(filling.words(stage) for stage in _stages(template))
    return Command(stages=stages, withheld=tuple(dict.fromkeys(filling.withheld)))


@functools.cache
def _stages(template: str) -> tuple[tuple[str, ...], ...]:
    """Split a template as a shell splits it; a line may continue on the next one."""
    lexer = shlex.shlex(template.replace("\\\n", " "), posix=True, punctuation_chars=_PIPE)
    lexer.whitespace_split, lexer.commenters = True, ""
    stages: list[list[str]] = [[]]
    for word in lexer:
        if word == _PIPE:
            stages.append([])
        else:
            stages[-1].append(word)
    return tuple(map(tuple, stages))


class _Filling:
    """Values for the words of one template; `withheld` are the placeholders that stay because their value is not fit."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.withheld: list[str] = []

    def words(self, template: Iterable[str]) -> tuple[str, ...]:
        filled: list[str] = []
        for word in template:
            value = self.word(word)
            if not value.startswith("-") or word.startswith("-"):
                filled.append(value)
            elif filled and filled[-1].startswith("--") and "=" not in filled[-1]:
                filled[-1] += f"={value}"  # alone it would be an option itself
            else:
                filled.append(self._placeholder(word.strip("{}")))
        return tuple(filled)

    def word(self, word: str) -> str:
        """Return a word of a template with values: any value where it is the whole word, a plain one within a word."""
        alone = _PLACEHOLDER.fullmatch(word)
        if alone is None:
            return self.within(word)
        value = self._values.get(alone[1])
        return value if value is not None and _is_printable(value) else self._placeholder(alone[1])

    def within(self, text: str) -> str:
        """Return a text of ours with values that hold no separator of a tool's own syntax."""
        return _PLACEHOLDER.sub(self._part, text)

    def _part(self, match: re.Match[str]) -> str:
        value = self._values.get(match[1], "")
        fits = is_plain_word(value) and _is_printable(value) and not set(value) & {",", "="}
        return value if fits else self._placeholder(match[1])

    def _placeholder(self, name: str) -> str:
        shown = placeholder(name)
        if name in self._values:
            self.withheld.append(shown)
        return shown


def _is_printable(value: str) -> bool:
    """Return whether a word can hold a value, exactly and in full."""
    return len(value) <= LONGEST_VALUE and not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value)
