"""Commands and settings as text: the last step, one function for each target.

No other module quotes. A command of several words reads back as these words in bash and `shlex`; a line of server.properties
reads back as its key and value in Kafka's loader, and runs nothing where somebody copies it into a shell. No line that is written
here has a backtick, a line break or a character that cannot be seen, so that it can stand in Markdown, in chats and in logs.
"""

import html
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence

from kafka_audit.model.commands import Code, Command, CommentLine, Line, Part, Prose, SettingLine
from kafka_audit.model.text import is_shown, our_line

_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_DOUBLE_QUOTABLE = re.compile(r'[^$`\\"!]+')
_PLAIN_IN_PROPERTIES = re.compile(r"[\w@%+=:,./\[\]^?*-]", re.ASCII)
# No program has such a name, so a shell that reads the line runs nothing.
_BETWEEN_PRINCIPALS = re.compile(r";(?=User:[\w@%+=:,./-])", re.ASCII)
_PLAIN_IN_YAML = re.compile(r"[\w@%+=:,./\[\]^?*()<>|&;#~{}' -]", re.ASCII)
_BMP = 0xFFFF
_WIDTH = 108
_CANNOT = "which cannot be printed here"


def shell_word(word: str) -> str:
    """Return one word as bash reads it, character by character."""
    if _PLAIN.fullmatch(word):
        return word
    if any(not is_shown(char) or char == "`" for char in word):
        return f"$'{''.join(map(_ansi, word))}'"
    if "'" in word and _DOUBLE_QUOTABLE.fullmatch(word):  # readable where shlex would splice quotes around every apostrophe
        return f'"{word}"'
    return shlex.quote(word)


def shell(command: Command) -> str:
    """Return a command as bash reads it."""
    return " | ".join(" ".join(map(shell_word, stage)) for stage in command.stages)


def properties_line(key: str, value: str) -> str:
    r"""Return a line as Kafka's loader reads it.

    A backslash takes the meaning from the next character in Java's properties as in bash. What is not ASCII, or cannot be seen,
    is `\uXXXX`, because the loader reads Latin-1.
    """
    name = re.sub("[=:]", r"\\\g<0>", _in_properties(key))
    return f"{name}={';'.join(map(_in_properties, _BETWEEN_PRINCIPALS.split(value)))}"


def yaml_scalar(text: str) -> str:
    """Return a string of a YAML document, in double quotes; a shell reads it as one word as well."""
    return f'"{"".join(char if _PLAIN_IN_YAML.match(char) else _in_yaml(char) for char in text)}"'


def setting_line(setting: SettingLine) -> str:
    """Return a setting as its file reads it."""
    if setting.file == "properties" and isinstance(setting.value, str):
        return properties_line(setting.key, setting.value)
    if isinstance(setting.value, str):
        return f"{setting.key}: {yaml_scalar(setting.value)}"
    return " ".join(map(str.strip, _yaml_list(setting.key, setting.value)))


def _yaml_list(key: str, values: Sequence[str]) -> Iterator[str]:
    """Yield a list over several lines, as YAML takes it."""
    shown = f"{key}: ["
    for number, value in enumerate(map(yaml_scalar, values)):
        if number and len(shown) + len(value) > _WIDTH:
            yield shown
            shown = "  "
        shown += f"{' ' if number and shown.strip() else ''}{value}{',' if number < len(values) - 1 else ''}"
    yield f"{shown}]"


def remark_line(words: Iterable[str]) -> str:
    """Return a comment; its words are quoted too, because not every shell knows comments where it is typed into."""
    return f"# {' '.join(map(shell_word, words))}"


def lines(printed: Iterable[Line]) -> Iterator[str]:
    """Yield commands, settings and comments, one line each, and before each the names in it that cannot be printed."""
    for line in printed:
        if isinstance(line, CommentLine):
            yield remark_line(line.words)
            continue
        for name in line.withheld:
            yield remark_line((name, "stands", "for", "a", "value", *_CANNOT.split()))
        if isinstance(line, SettingLine) and isinstance(line.value, tuple):
            yield from _yaml_list(line.key, line.value)
        else:
            yield shell(line) if isinstance(line, Command) else setting_line(line)


def code(part: Code | Command | SettingLine | CommentLine) -> str:
    """Return a command, a setting or a name, without what a page sets around it."""
    if isinstance(part, Code):
        return our_line(part.text, len(part.text) * 10).replace("`", "'")
    if isinstance(part, CommentLine):
        return remark_line(part.words)
    return shell(part) if isinstance(part, Command) else setting_line(part)


def plain_prose(text: str | Prose) -> str:
    """Return sentences with the code in them between backticks; a command of its own line stands there as it is."""
    return written(text, words=str, span=lambda shown: f"`{shown}`", line=str)


def markdown_span(shown: str) -> str:
    """Return code in a sentence as Markdown, whatever backticks it holds."""
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    blank = " " if "`" in shown else ""
    return f"{fence}{blank}{shown}{blank}{fence}"


def markdown_block(shown: Iterable[str]) -> Iterator[str]:
    """Yield lines of code as Markdown, in a fence that is longer than any row of backticks in them."""
    held = list(shown)
    longest = max((len(run) for line in held for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}sh", *held, fence)


def html_code(shown: str) -> str:
    """Return code in a sentence as HTML."""
    return f"<code>{html.escape(shown)}</code>"


def written(text: str | Prose, *, words: Callable[[str], str], span: Callable[[str], str], line: Callable[[str], str]) -> str:
    """Return sentences in a format.

    Args:
        text: sentences, as a string or as parts.
        words: writes what is between code.
        span: writes code in a sentence.
        line: writes a command that has a line of its own.
    """
    return "".join(_written(part, words, span, line) for part in ((text,) if isinstance(text, str) else text))


def _written(part: Part, words: Callable[[str], str], span: Callable[[str], str], line: Callable[[str], str]) -> str:
    if isinstance(part, str):
        return words(part)
    shown = line(code(part)) if isinstance(part, Command) and part.own_line else span(code(part))
    withheld = () if isinstance(part, Code | CommentLine) else part.withheld
    return shown + (words(f" ({', '.join(withheld)}: a value {_CANNOT})") if withheld else "")


def _ansi(char: str) -> str:
    r"""Return a character between `$'` and `'`; quotes and backslashes as numbers, so that every splitter finds its end."""
    if char in "'\\`!" or ord(char) < ord(" ") or char == "\x7f":
        return f"\\x{ord(char):02x}"
    return char if is_shown(char) else _number(char)


def _number(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) <= _BMP else f"\\U{ord(char):08x}"


def _in_properties(text: str) -> str:
    return "".join(map(_property_char, text))


def _property_char(char: str) -> str:
    if _PLAIN_IN_PROPERTIES.match(char):
        return char
    if " " <= char <= "~" and char != "`":
        return f"\\{char}"
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _in_yaml(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isascii():
        return f"\\x{ord(char):02x}"
    return char if is_shown(char) else _number(char)
