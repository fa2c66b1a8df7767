"""The last filter before a snapshot: no secret setting and none of the auditor's own passwords in any column. Pure.

Readers leave secrets behind where they meet them; here what a reader missed goes. Names (topics, hosts, racks, principals,
groups) stay as they are, for tables are joined by them, unless one of our own passwords stands in them.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from urllib.parse import quote

from kafka_audit.collect.masking import MASK
from kafka_audit.collect.secret_keys import is_secret, known_secret
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
"""Characters of a password that is looked for in free text, and in names: a shorter one stands in any of them by chance."""

_FREE = frozenset({"message", "needs", "error", "detail", "text", "value"})
_OURS = frozenset({"outcome", "layer", "role", "mode", "operation", "signature", "zone", "cluster", "tool_version", "reason"})
_OUR_WORDS = frozenset({BOOTSTRAP, "worker", "zookeeper"})
_DIGEST = "_digest"

_TEXTS: Mapping[type[Row], tuple[str, ...]] = MappingProxyType(
    {
        table: tuple(
            one.name
            for one in columns(table)
            if one.sql_type in {"string", "array<string>"} and one.name not in _OURS and not one.name.endswith(_DIGEST)
        )
        for table in TABLES
    }
)


def filtered(rows: Iterable[Row], passwords: Collection[str], until: float = float("inf")) -> tuple[Row, ...]:
    """Return the rows without secrets.

    Args:
        rows: of one snapshot.
        passwords: every one that the cluster file names.
        until: of `time.monotonic()`; after that no value is read any more, and one that no reader has read counts as a secret.
    """

    @cache  # most brokers set the same
    def judged(key: str, value: str) -> bool:
        known = known_secret(key, value)
        if known is None:
            known = time.monotonic() >= until or is_secret(key, value)
        return known

    shown = tuple(_without_setting(row, judged) for row in rows)
    free, named = _hidden(passwords, SHORTEST), _hidden(passwords, SHORTEST_IN_NAMES)
    return tuple(_without(row, free, named) for row in shown) if free else shown


def _hidden(passwords: Collection[str], shortest: int) -> tuple[str, ...]:
    """Return what passwords may look like, the longest first: one may hold another."""
    long = [one for one in passwords if len(one) >= shortest]
    return tuple(sorted({*long, *(quote(one, safe="") for one in long)}, key=lambda one: (-len(one), one)))


def _without_setting(row: Row, judged: Callable[[str, str], bool]) -> Row:
    if not isinstance(row, BrokerConfig | DynamicConfig | BrokerProperty | TopicConfig):
        return row
    if row.value is None or not judged(row.key, row.value):
        return row
    if isinstance(row, BrokerConfig):
        return replace(row, value=None, sensitive=True)
    return replace(row, value=MASK) if isinstance(row, TopicConfig) else replace(row, value=None, secret=True)


def _without(row: Row, free: Collection[str], named: Collection[str]) -> Row:
    changed = dict(_changed(row, free, named))
    return replace(row, **changed) if changed else row


def _changed(row: Row, free: Collection[str], named: Collection[str]) -> Iterator[tuple[str, object]]:
    for name in _TEXTS[type(row)]:
        value = getattr(row, name)
        hidden = free if name in _FREE else named
        if isinstance(value, str) and value not in _OUR_WORDS and any(one in value for one in hidden):
            yield name, _hide(value, hidden)
        elif isinstance(value, tuple) and any(one in part for part in value for one in hidden):
            yield name, tuple(_hide(part, hidden) for part in value)


def _hide(text: str, hidden: Collection[str]) -> str:
    for one in hidden:
        text = text.replace(one, MASK)
    return text
