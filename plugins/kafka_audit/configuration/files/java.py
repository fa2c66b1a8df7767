"""Java's own reading of a properties file (`java.util.Properties.load`), line by line. Pure.

Kafka loads its file as a stream of bytes (`Utils.loadProps`), so every byte is one ISO-8859-1 character, whatever the editor
wrote: UTF-8 text comes out as Kafka sees it, not as it was meant.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = " \t\f"
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|u|.)", re.DOTALL)
_CONTROL = {"t": "\t", "r": "\r", "n": "\n", "f": "\f"}
_SEPARATOR = re.compile(r"((?:\\.|[^\\=: \t\f])*+)[ \t\f]*+[=:]?+[ \t\f]*+(.*)", re.DOTALL)
_BREAK = re.compile(r"\r\n|\r|\n")


class PropertiesError(ValueError):
    """Java refuses the file; `line` is where, `problem` is why."""

    def __init__(self, line: int, problem: str) -> None:
        """Keep both; lines are counted from 1."""
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Property:
    """A key as it was defined last, and the line at which that definition begins.

    `earlier`: the line of the definition before with another value, which has no effect; 0 if there is none.
    """

    key: str
    value: str
    line: int
    earlier: int = 0


def parse_properties(data: bytes) -> dict[str, Property]:
    """Return the properties of a file by key, a later definition in place of an earlier one; raises PropertiesError."""
    found: dict[str, Property] = {}
    for line, text in _logical_lines(data.decode("latin-1")):
        match = _SEPARATOR.fullmatch(text)
        key, value = match.groups() if match else (text, "")
        name, value = _unescaped(key, line), _unescaped(value, line)
        before = found.get(name)
        found[name] = Property(name, value, line, before.line if before is not None and before.value != value else 0)
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield logical lines with the number of the natural line at which each begins; blank lines and comments are none.

    A line that ends in an odd number of backslashes goes on in the next one, whose leading blanks do not count. Only what comes
    before the first character of a logical line can be a comment, so a comment never goes on.
    """
    parts: list[str] = []  # joined at the end of a logical line: it may have millions of natural ones
    begin, goes_on = 0, False
    lines = _BREAK.split(text)
    if lines[-1] == "" and not text.endswith("\r\n"):
        lines.pop()  # for Java a file that ends in a backslash and one end of line still goes on
    for number, natural in enumerate(lines, 1):
        line = natural.lstrip(_BLANK)
        if not parts:
            begin = number
            if line.startswith(("#", "!")):
                goes_on = False
                continue
        # Java ends a continued line at a blank one, unless nothing has been said yet.
        goes_on = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        line = line[:-1] if goes_on else line
        parts += [line] if line else []
        if parts and not goes_on:
            yield begin, "".join(parts)
            parts = []
    if parts or goes_on:
        yield begin, "".join(parts)


def _unescaped(text: str, line: int) -> str:
    if "\\" not in text:
        return text

    def char(match: re.Match[str]) -> str:
        found = match[1]
        if found == "u":
            raise PropertiesError(line, "a \\u without four hexadecimal digits")
        return chr(int(found[1:], 16)) if found[0] == "u" else _CONTROL.get(found, found)

    plain = _ESCAPE.sub(char, text)
    # Java's strings are UTF-16: two escapes may be the halves of one character, and half a character is none.
    return plain.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
