"""Strings for people: what a cluster says is hostile until cleaned, lists read as a sentence, a wrong key names the right one."""

import difflib
import functools
import re
import unicodedata
from collections.abc import Iterable, Sequence

LONGEST = 200
"""Characters of one cluster-supplied string that are shown; a Kafka topic name has at most 249, an address far fewer."""

LONGEST_HEADLINE = 90
"""Characters of an incident's headline; a mail's subject and a page's table show as many."""

# Printable by Unicode's own rules, yet blank or joining on screen: fillers, a blank Braille cell, joiners, variation selectors.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_PLAIN_WORD = re.compile(r"[\w@%+=:,./\[\]-]+", re.ASCII)

# GitHub trims a line before it searches `::command`, and finds `##[` anywhere in it; Azure and TeamCity do the same. A
# name of hexadecimal digits alone is the end of an IPv6 address and no command.
_LINE_COMMAND = re.compile(r"^([^\S\n]*):(?=:[A-Za-z_-]*[G-Zg-z_-])", re.MULTILINE)
_COMMAND = re.compile(r"#(?=#\w{0,40}\[)")
_ATTACHMENT = re.compile(r"\[(?=\[ATTACHMENT\|)", re.IGNORECASE)

_LOGIN = re.compile(r"(?<=://)[^\s/@:]{0,256}:[^\s@]{0,1024}@")
_SIGNATURE = re.compile(r"([?&](?:[\w.-]{0,40}(?:sig|signature|token|secret|key|passw(?:or)?d)))=[^\s&#]{1,4096}", re.IGNORECASE)


def is_shown(char: str) -> bool:
    """Return whether a character stands on a line as itself: no control, invisible, turning or enclosing character."""
    return char == " " or (char.isprintable() and not _INVISIBLE.match(char) and unicodedata.category(char) != "Me")


def _shown(char: str) -> str:
    if is_shown(char):
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"  # noqa: PLR2004 -- \u has four digits


class _Shown(dict[int, str]):
    """What `str.translate` makes of each character; of those beyond ASCII few are kept, for a cluster may use every one."""

    def __missing__(self, code: int) -> str:
        return _shown_beyond(code)


@functools.lru_cache(maxsize=1024)
def _shown_beyond(code: int) -> str:
    return _shown(chr(code))


_SHOWN = _Shown({code: _shown(chr(code)) for code in range(128)})


def clean(text: object, limit: int = LONGEST) -> str:
    r"""Return a value that another party supplied, on one line, fit for a sentence on a terminal, in a mail or on a page.

    As `our_line`, and without backticks: in our sentences what stands between two of them is code that can be copied, and only
    the sentence's own template may say so. Cleaning twice changes nothing.
    """
    return our_line(str(text).replace("`", "'"), limit)


def our_line(text: object, limit: int = LONGEST) -> str:
    r"""Return a sentence or a command of ours on one line, fit for a terminal, a mail or a page.

    Control, bidirectional, invisible and enclosing characters become their `\uXXXX` escapes, so that no name can move the
    cursor, turn the reading direction or hide. What is longer than `limit` is cut and says how long it was; code between
    backticks is whole or absent. Cleaning twice changes nothing.
    """
    raw = str(text)
    head = raw[: limit + 1]
    shown = head if head.isascii() and head.isprintable() else head.translate(_SHOWN)
    if len(shown) <= limit and len(raw) <= limit:
        return shown
    reported = f"… ({len(raw)} characters)"
    kept = shown[: max(limit - len(reported), 0)]
    return (kept.rpartition("`")[0].rstrip() if kept.count("`") % 2 else kept) + reported


def both_ends(line: str, limit: int) -> str:
    """Return a line of a log without its middle where it is longer than `limit`: who wrote it stands at its end."""
    tail = limit // 4
    return line if len(line) <= limit else f"{line[: limit - tail - 1]}…{line[-tail:]}"


def without_surrogates(text: str) -> str:
    """Return `text` without half characters, which Java's and JSON's escapes let through and no table can hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def inert(text: str) -> str:
    r"""Return what goes to a stream with every command of a build server written as text.

    GitHub, Azure and TeamCity act on lines of a step's output, Jenkins and GitLab on attachments named in test results. One
    character of each such command becomes its `\uXXXX` escape, so JSON reads as before.
    """
    return _ATTACHMENT.sub(r"\\u005b", _COMMAND.sub(r"\\u0023", _LINE_COMMAND.sub(r"\1\\u003a", text)))


def without_logins(text: str) -> str:
    """Return text with URLs without user, password, keys and signatures."""
    return _SIGNATURE.sub(r"\1=***", _LOGIN.sub("***@", text))


def is_plain_word(text: str) -> bool:
    """Return whether a string is one word in any shell without quotes, and no option."""
    return _PLAIN_WORD.fullmatch(text) is not None and not text.startswith("-")


def listing(items: Iterable[object], limit: int = 10) -> str:
    """Return `a`, `a and b`, `a, b and c`; beyond `limit` items the first ones and how many more there are.

    A name that begins with a hyphen is quoted: it looks like a dash or an option.
    """
    texts = [f'"{clean(item)}"' if isinstance(item, str) and item.startswith("-") else clean(item) for item in items]
    if len(texts) > limit:
        return f"{', '.join(texts[:limit])} and {len(texts) - limit} more"
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def brokers(ids: Iterable[int], limit: int = 6) -> str:
    """Return `broker 2`, `brokers 0, 1 and 2`, or `12 brokers` beyond `limit` (a headline must stay short)."""
    return named_nodes("broker", ids, limit)


def named_nodes(kind: str, ids: Iterable[int], limit: int = 6) -> str:
    """Return the same of nodes of any kind: `controllers 200 and 201`."""
    found = sorted(set(ids))
    if len(found) > limit:
        return f"{len(found)} {kind}s"
    return f"{kind}{'' if len(found) == 1 else 's'} {listing(found)}"


def ranges(ids: Iterable[int]) -> str:
    """Return `0-5, 7`: ids in as few characters as they need."""
    runs: list[list[int]] = []
    for number in sorted(set(ids)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" if b > a + 1 else f"{a}, {b}" for a, b in runs)


def without_id(text: str, node: object) -> str:
    """Return a text that is the same for nodes that differ in their id only: a word, such as in the name of a folder."""
    return re.sub(rf"(?<!\w){re.escape(str(node))}(?!\w)", "ID", text)


def counted(number: int, singular: str, more: str | None = None) -> str:
    """Return `1 read`, `2 reads`; `more` where the plural is not formed by an s."""
    return f"{number} {singular if number == 1 else more or singular + 's'}"


def start_upper(text: str) -> str:
    """Return `text` with its first letter in upper case and the rest as it is."""
    return text[:1].upper() + text[1:]


def fitting(candidates: Sequence[str]) -> str:
    """Return the first candidate of at most `LONGEST_HEADLINE` characters, else the last one, cut."""
    return next((text for text in candidates if len(text) <= LONGEST_HEADLINE), our_line(candidates[-1], LONGEST_HEADLINE))


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return `; did you mean X?` for the nearest choice, or nothing where none is near. Case does not count."""
    folded = {choice.lower(): choice for choice in choices}
    near = difflib.get_close_matches(word.lower(), folded, n=1)
    return f"; did you mean {folded[near[0]]}?" if near else ""
