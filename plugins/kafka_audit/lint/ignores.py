"""Mutes in a file: `# kafka-audit: ignore KA308 reason`, for the whole file. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_audit.checks import Check
from kafka_audit.configuration.files.java import PropertiesError
from kafka_audit.model.text import did_you_mean

_MARK = "kafka-audit:"
_OWN_LINE = re.compile(r"[ \t\f]*[#!][ \t]*kafka-audit:(.*)")
_TRAILING = re.compile(r".*?[ \t]#[ \t]*kafka-audit:(.*)")
_IGNORE = re.compile(r"[ \t]*ignore[ \t]+(KA[0-9]{3})(?:[ \t:]+(\S.*?))?[ \t\r]*")
_HOW = "write `# kafka-audit: ignore KA308 reason`"


@dataclass(frozen=True, kw_only=True)
class Ignore:
    """A check that this file's owner has accepted."""

    code: str
    reason: str
    line: int


def find_ignores(data: bytes, checks: Mapping[str, Check], *, trailing: bool) -> tuple[Ignore, ...]:
    """Return the mutes of a file.

    Args:
        data: the file.
        checks: all checks by code.
        trailing: whether a comment may follow a value, as in YAML; Java reads it as a part of the value.

    Raises:
        PropertiesError: a comment for us that cannot be understood: no reason, no such check, behind a value.
    """
    return tuple(_found(data.decode("utf-8", "replace"), checks, trailing=trailing)) if _MARK.encode() in data else ()


def _found(text: str, checks: Mapping[str, Check], *, trailing: bool) -> Iterator[Ignore]:
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        match = _OWN_LINE.fullmatch(line)
        if match is None and (behind := _TRAILING.fullmatch(line)):
            if not trailing:
                raise PropertiesError(
                    number, "Java reads a comment after a value as part of the value; move the comment to its own line"
                )
            match = behind
        if match is not None:
            yield _read(match[1], number, checks)


def _read(text: str, number: int, checks: Mapping[str, Check]) -> Ignore:
    match = _IGNORE.fullmatch(text)
    if match is None:
        raise PropertiesError(number, f"an unknown kafka-audit comment; {_HOW}")
    code, reason = match.groups()
    if code not in checks:
        near = did_you_mean(code, checks) or "; `kafka-audit explain` lists them"
        raise PropertiesError(number, f"{code} is not a check of this version{near}")
    if reason is None:
        raise PropertiesError(number, f"{code} is ignored without a reason; {_HOW}")
    return Ignore(code=code, reason=reason, line=number)
