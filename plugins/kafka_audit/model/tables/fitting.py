"""Whether a row fits the columns of its table: reported values may be any number, null, and text of any length."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from kafka_audit.model.tables import INT, LONG, TABLES, Column, columns
from kafka_audit.model.tables.row import Row

_MOST_SAMPLES = 16
"""Four times as many as a snapshot has."""

MOST_TEXT = 1024 * 1024
"""Characters of one text; a server.properties and a znode are not larger."""


def _long(value: object) -> str | None:
    if type(value) is not int:
        return "no whole number"
    return None if -LONG <= value <= LONG else "a number of more than 64 bits"


def _int(value: object) -> str | None:
    if type(value) is int and INT < abs(value) <= LONG:
        return "a number of more than 32 bits"
    return _long(value)


def _sample(value: object) -> str | None:
    if type(value) is int and 1 <= value <= _MOST_SAMPLES:
        return None
    return _int(value) or "a sample that no snapshot has"


def _number(value: object) -> str | None:
    if type(value) not in {int, float}:
        return "no number"
    return None if math.isfinite(value) else "no finite number"  # type: ignore[arg-type] # see above


def _text(value: object) -> str | None:
    if type(value) is not str:
        return "no text"
    if len(value) > MOST_TEXT:
        return f"a text of {len(value)} characters"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "no text that UTF-8 can hold"
    return None


def _boolean(value: object) -> str | None:
    return None if type(value) is bool else "no boolean"


def _each(fault: Callable[[object], str | None]) -> Callable[[object], str | None]:
    def of_list(value: object) -> str | None:
        if type(value) is not tuple:
            return "no list"
        return next((f"a list with {text}" for entry in value if (text := fault(entry))), None)

    return of_list


_FAULTS: Mapping[str, Callable[[object], str | None]] = MappingProxyType(
    {
        "bigint": _int,
        "double": _number,
        "string": _text,
        "boolean": _boolean,
        "array<bigint>": _each(_int),
        "array<string>": _each(_text),
    }
)


def fault_of(column: Column) -> Callable[[object], str | None]:
    """Return the function that says why a value does not fit a column; it returns None where it fits."""
    if column.name in {"sample", "last_sample"}:
        return _sample
    return _long if column.most == LONG else _FAULTS[column.sql_type]


_COLUMNS = MappingProxyType(
    {table: tuple((column.name, fault_of(column), column.nullable) for column in columns(table)) for table in TABLES}
)


def misfit(row: Row) -> str | None:
    """Return the first column whose value its table cannot hold, with the reason and without the value; None where all fit."""
    for name, fault, nullable in _COLUMNS[type(row)]:
        value = getattr(row, name)
        if value is None:
            if not nullable:
                return f"{row.table()}.{name} is null"
        elif text := fault(value):
            return f"{row.table()}.{name} is {text}"
    return None
