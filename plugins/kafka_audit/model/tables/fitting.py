"""Whether a row fits the columns of its table: reported values may be any number, null, and text of any length."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from kafka_audit.model.tables import TABLES, columns
from kafka_audit.model.tables.row import Row

MOST_TEXT = 1024 * 1024
"""Characters of one text; a server.properties and a znode are not larger."""

_LONG = 2**63


def _whole(value: object) -> str | None:
    if type(value) is not int:
        return "no whole number"
    return None if -_LONG <= value < _LONG else "a number of more than 64 bits"


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
        "bigint": _whole,
        "double": _number,
        "string": _text,
        "boolean": _boolean,
        "array<bigint>": _each(_whole),
        "array<string>": _each(_text),
    }
)


_COLUMNS = MappingProxyType(
    {table: tuple((column.name, _FAULTS[column.sql_type], column.nullable) for column in columns(table)) for table in TABLES}
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
