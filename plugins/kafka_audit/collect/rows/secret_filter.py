"""The last filter before a snapshot: no secret setting and none of the auditor's own passwords in any column. Pure.

Readers drop secrets; this filter drops what a reader missed. Names (topics, hosts, racks, principals,
groups) stay as they are, because tables are joined by them, unless they contain one of our own passwords.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.rows.masking import MASK
from kafka_audit.collect.rows.secret_keys import is_secret, known_secret
from kafka_audit.model.tables import (
    BOOTSTRAP,
    TABLES,
    BrokerConfig,
    BrokerProperty,
    DynamicConfig,
    Row,
    TopicConfig,
    columns,
)

SHORTEST, SHORTEST_IN_NAMES = 4, 8
"""The shortest password that is searched in free text, and in names: shorter ones occur by chance."""

_FREE = frozenset({"message", "needs", "error", "detail", "text", "value"})
_OURS = frozenset({"outcome", "layer", "role", "mode", "operation", "signature", "zone", "cluster", "tool_version", "reason"})
_OUR_WORDS = frozenset({BOOTSTRAP, "worker", "zookeeper"})
_DIGEST = "_digest"

_TEXTS: Mapping[type[Row], tuple[str, ...]] = MappingProxyType(
    {
        table: tuple(
            column.name
            for column in columns(table)
            if column.sql_type in {"string", "array<string>"} and column.name not in _OURS and not column.name.endswith(_DIGEST)
        )
        for table in TABLES
    }
)


def filtered(found: Collected, passwords: Collection[str], until: float = float("inf")) -> Collected:
    """Return what was collected, without secrets.

    Args:
        found: all rows of one snapshot.
        passwords: every one that the cluster file names.
        until: of `time.monotonic()`; after that no more values are read, and a value that no reader has read counts as a secret.
    """

    @cache  # most brokers set the same
    def judged(key: str, value: str) -> bool:
        known = known_secret(key, value)
        if known is None:
            known = time.monotonic() >= until or is_secret(key, value)
        return known

    rows = tuple(_without_setting(row, judged) for row in found.rows)
    large = dict(found.large)
    if TopicConfig in large:
        large[TopicConfig] = _without_settings(large[TopicConfig], judged)
    free, named = _hidden(passwords, SHORTEST), _hidden(passwords, SHORTEST_IN_NAMES)
    if free:
        rows = tuple(_without(row, free, named) for row in rows)
        large = {table: _without_in(table, data, free, named) for table, data in large.items()}
    return Collected(rows=rows, large=MappingProxyType(large))


def _hidden(passwords: Collection[str], shortest: int) -> tuple[str, ...]:
    """Return the forms of passwords, the longest first: one may contain another."""
    long = [password for password in passwords if len(password) >= shortest]
    return tuple(sorted({*long, *(quote(form, safe="") for form in long)}, key=lambda form: (-len(form), form)))


def _without_setting(row: Row, judged: Callable[[str, str], bool]) -> Row:
    if not isinstance(row, BrokerConfig | DynamicConfig | BrokerProperty):
        return row
    if row.value is None or not judged(row.key, row.value):
        return row
    if isinstance(row, BrokerConfig):
        return replace(row, value=None, sensitive=True)
    return replace(row, value=None, secret=True)


def _without_settings(settings: pa.Table, judged: Callable[[str, str], bool]) -> pa.Table:
    """Return what topics set for themselves, secrets masked; of equal ones, which most are, one is judged."""
    named = pc.binary_join_element_wise(settings.column("key"), settings.column("value"), "=")
    distinct = [entry.partition("=") for entry in pc.unique(named).to_pylist()]  # no key holds the sign
    secret = [f"{key}={value}" for key, _, value in distinct if judged(key, value)]
    if not secret:
        return settings
    shown = pc.if_else(pc.is_in(named, value_set=pa.array(secret)), MASK, settings.column("value"))
    return settings.set_column(settings.column_names.index("value"), "value", shown)


def _without(row: Row, free: Collection[str], named: Collection[str]) -> Row:
    changed = dict(_changed(row, free, named))
    return replace(row, **changed) if changed else row


def _changed(row: Row, free: Collection[str], named: Collection[str]) -> Iterator[tuple[str, object]]:
    for name in _TEXTS[type(row)]:
        value = getattr(row, name)
        hidden = free if name in _FREE else named
        if isinstance(value, str) and value not in _OUR_WORDS and any(password in value for password in hidden):
            yield name, _hide(value, hidden)
        elif isinstance(value, tuple) and any(password in part for part in value for password in hidden):
            yield name, tuple(_hide(part, hidden) for part in value)


def _without_in(table: type[Row], data: pa.Table, free: Collection[str], named: Collection[str]) -> pa.Table:
    """Return a large table, as `_without` does with a row."""
    for name in _TEXTS[table]:
        values = shown = data.column(name)
        for password in free if name in _FREE else named:
            shown = pc.replace_substring(shown, password, MASK)
        if not shown.equals(values):
            shown = pc.if_else(pc.is_in(values, value_set=pa.array([*_OUR_WORDS])), values, shown)
            data = data.set_column(data.column_names.index(name), name, shown)
    return data


def _hide(text: str, hidden: Collection[str]) -> str:
    for password in hidden:
        text = text.replace(password, MASK)
    return text
