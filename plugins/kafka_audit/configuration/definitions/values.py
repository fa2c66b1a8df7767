"""`ConfigDef.parseType`: what Kafka makes of a text, by type. Java's own reading of numbers."""

import re

Value = None | bool | int | float | str | tuple[str, ...]

# String.trim() takes every character up to the blank.
_BLANK = "".join(map(chr, range(0x21)))
# Blanks are taken from their first one on: tried from each of them, a megabyte of blanks would take hours.
COMMA = re.compile(r"(?:(?<![ \t\n\x0b\f\r])[ \t\n\x0b\f\r]++)?,[ \t\n\x0b\f\r]*+")
"""A comma with the blanks around it, as Kafka splits its lists."""

_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]+)?[fFdD]?)")
_HEXADECIMAL = re.compile(r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?")
_DIGITS = 20  # a long has fewer
_BITS = {"SHORT": 16, "INT": 32, "LONG": 64}


def trimmed(text: str) -> str:
    """Return a text as `String.trim` leaves it."""
    return text.strip(_BLANK)


def integer(text: str, bits: int = 32) -> int | None:
    """Return what `Integer.parseInt` and kin make of a text, None where they throw."""
    if not _INTEGER.fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0") or "0"
    if len(digits) > _DIGITS:  # Python refuses to read thousands of them
        return None
    number = -int(digits) if text.startswith("-") else int(digits)
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def decimal(text: str) -> float | None:
    """Return what `Double.parseDouble` makes of a text, None where it throws."""
    if _DECIMAL.fullmatch(text):
        return float(text if text.endswith(("y", "N")) else text.rstrip("fFdD"))
    if match := _HEXADECIMAL.fullmatch(text):
        return float.fromhex(match[1])
    return None


def parsed(text: str, kind: str) -> tuple[Value, str | None]:
    """Return a value of a ConfigDef type, or what Kafka says against the text.

    Args:
        text: as in the file.
        kind: a `ConfigDef.Type`.
    """
    bare = trimmed(text)
    if kind == "LIST":
        return (tuple(COMMA.split(bare)) if bare else ()), None
    if kind == "BOOLEAN":
        known = {"true": True, "false": False}.get(bare.lower())
        return known, None if known is not None else "Expected value to be either true or false"
    if kind in _BITS or kind == "DOUBLE":
        number = decimal(bare) if kind == "DOUBLE" else integer(bare, _BITS[kind])
        return number, None if number is not None else f"Not a number of type {kind}"
    return bare, None
