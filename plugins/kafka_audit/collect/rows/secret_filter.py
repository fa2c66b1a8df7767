"""The last filter before a snapshot: no secret setting and none of the auditor's own passwords in any column. Pure.

Readers drop secrets; this filter drops what a reader missed. Names (topics, hosts, racks, principals,
groups) stay as they are, because tables are joined by them, unless they contain one of our own passwords.
"""

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit.clients.secrets.masking import MASK, secret_forms
from kafka_audit.clients.secrets.secret_keys import is_secret, known_secret
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.configuration.near_keys import is_known
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.tables import (
    BOOTSTRAP,
    TABLES,
    BrokerConfig,
    BrokerProperty,
    ControllerConfig,
    DynamicConfig,
    RegisteredBroker,
    Row,
    TopicConfig,
    ViewBroker,
    columns,
)

_CLASS = r"(?:[a-z][a-z0-9_]*+\.)++[A-Z][\w$]*+"
_NO_TEXT = re.compile(rf"\s*+(?:[+-]?[0-9]{{1,19}}(?:\.[0-9]{{1,9}})?|true|false|{_CLASS}(?:\s*+,\s*+{_CLASS})*+)?\s*+")


def is_free_text(key: str, value: str) -> bool:
    """Return whether a value is a text of a key that no release of Kafka defines, and is not kept.

    No check reads it, and a sentence of a plugin or of a person may hold a secret that nothing in it shows. Numbers, booleans and
    classes are no text.
    """
    return _NO_TEXT.fullmatch(value) is None and not is_known(key)


SHORTEST, SHORTEST_IN_NAMES = 4, 8
"""The shortest password that is searched in free text, and in names: shorter ones occur by chance."""

_SHORTEST_FORM = 6
"""Characters of the shortest form of a password, such as its base64, that is searched in free text."""

_AT_ONCE = 500
"""Rows whose texts are searched together: a search in one long text takes a tenth of the time of as many short ones."""

_FREE = frozenset({"message", "needs", "error", "detail", "text", "value"})
_OURS = frozenset({"outcome", "layer", "role", "mode", "operation", "signature", "zone", "cluster", "tool_version", "reason"})
_OUR_WORDS = frozenset({BOOTSTRAP, WORKER, "zookeeper"})
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
        rows = tuple(row for batch in _batches(rows) for row in _without_in_rows(batch, free, named))
        large = {table: _without_in(table, data, free, named) for table, data in large.items()}
    return Collected(rows=rows, large=MappingProxyType(large))


def _hidden(passwords: Collection[str], shortest: int) -> tuple[str, ...]:
    """Return the forms of passwords, the longest first: one may contain another."""
    long = {password for password in passwords if len(password) >= shortest}
    least = max(shortest, _SHORTEST_FORM)
    forms = long | {form for password in long for form in secret_forms(password) if len(form) >= least}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _batches(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    return (rows[at : at + _AT_ONCE] for at in range(0, len(rows), _AT_ONCE))


def _without_in_rows(rows: Sequence[Row], free: Collection[str], named: Collection[str]) -> Iterable[Row]:
    """Return rows as `_without` does; `free` has all that `named` has."""
    text = "\0".join(text for row in rows for text in _texts(row))
    found = [form for form in free if form in text]
    if not found:
        return rows
    found_in_names = [form for form in named if form in found]
    return [_without(row, found, found_in_names) for row in rows]


def _texts(row: Row) -> Iterator[str]:
    for name in _TEXTS[type(row)]:
        value = getattr(row, name)
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            yield from value


def _without_setting(row: Row, judged: Callable[[str, str], bool]) -> Row:
    if isinstance(row, RegisteredBroker | ViewBroker):
        return replace(row, rack=MASK) if row.rack is not None and judged("broker.rack", row.rack) else row
    if not isinstance(row, BrokerConfig | ControllerConfig | DynamicConfig | BrokerProperty):
        return row
    if row.value is None or not judged(row.key, row.value):
        return row
    if isinstance(row, BrokerConfig | ControllerConfig):
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
    """Return a large table, as `_without` does with a row; what holds nothing is read once."""
    for name in _TEXTS[table]:
        values = shown = data.column(name)
        forms = free if name in _FREE else named
        if not forms or not pc.any(pc.match_substring_regex(values, "|".join(map(re.escape, forms)))).as_py():
            continue
        for form in forms:
            shown = pc.replace_substring(shown, form, MASK)
        if not shown.equals(values):
            shown = pc.if_else(pc.is_in(values, value_set=pa.array([*_OUR_WORDS])), values, shown)
            data = data.set_column(data.column_names.index(name), name, shown)
    return data


def _hide(text: str, hidden: Collection[str]) -> str:
    for password in hidden:
        text = text.replace(password, MASK)
    return text
