"""Snapshot tables: one frozen dataclass is one table, a field is a column, its comment the column's meaning.

Rows contain what an observer reports, never a verdict. The store adds `snapshot_id` and `cluster_id` as first columns, so that
one query can judge many clusters. A table that is the same as in the snapshot before is not stored again: `manifest.json` names
the snapshot that has the file (`stored_in`), and `snapshot_id` in the file is that one. Conventions: `observer` is `zookeeper` or
`broker:<id>` (`broker@host:port` for a bootstrap address whose id is unknown); times are `_ms` since the epoch; `sample` counts
from 1, the highest is the newest.

Column types: int -> bigint, float -> double, str, bool, tuple[int, ...] -> array<bigint>, tuple[str, ...] -> array<string>,
`| None` -> nullable. A number has 32 bits, one of type `Long` 64.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType, UnionType
from typing import Any, ClassVar, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

from kafka_audit.model.tables.asked import *
from kafka_audit.model.tables.logs import *
from kafka_audit.model.tables.quorum import *
from kafka_audit.model.tables.registry import *
from kafka_audit.model.tables.row import *
from kafka_audit.model.tables.security import *
from kafka_audit.model.tables.storage import *
from kafka_audit.model.tables.views import *
from kafka_audit.model.tables.zookeeper import *

_T = TypeVar("_T", bound=Row)

TABLES = tuple(table for table in Row.__subclasses__() if table.stored)
"""Every table of a snapshot: each module above adds those that it defines."""

LARGE: tuple[type[Row], ...] = (RegisteredTopic, RegisteredPartition, ViewTopic, ViewPartition, TopicConfig, DiskReplicas)
"""Tables that grow with topics and partitions: columns from the wire to the store, and never rows in Python."""

_SQL_TYPES: Mapping[Any, str] = MappingProxyType(
    {
        int: "bigint",
        float: "double",
        str: "string",
        bool: "boolean",
        tuple[int, ...]: "array<bigint>",
        tuple[str, ...]: "array<string>",
    }
)


INT, LONG = 2**31 - 1, 2**63 - 1
"""The largest whole numbers of Java's types."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table: `sql_type` is a Spark SQL type name."""

    name: str
    sql_type: str
    nullable: bool
    most: int = INT  # of a whole number; it is not below -most


KEY: tuple[Column, ...] = (
    Column(name="snapshot_id", sql_type="string", nullable=False),
    Column(name="cluster_id", sql_type="string", nullable=False),
)
"""Columns that the store puts in front of every row."""


def columns(table: type[Row]) -> tuple[Column, ...]:
    """Return the columns of a table without `KEY`, in field order; raises KeyError for a field type without a column type."""
    if table not in _COLUMNS:
        _COLUMNS[table] = _columns(table)
    return _COLUMNS[table]


_COLUMNS: dict[type[Row], tuple[Column, ...]] = {}


def _columns(table: type[Row]) -> tuple[Column, ...]:
    hints = get_type_hints(table, include_extras=True)
    found = []
    for column in fields(table):
        hint = hints[column.name]
        nullable = get_origin(hint) in {Union, UnionType}
        if nullable:
            (hint,) = (a for a in get_args(hint) if a is not type(None))
        most, hint = (LONG, int) if hint == Long else (INT, hint)
        found.append(Column(name=column.name, sql_type=_SQL_TYPES[hint], nullable=nullable, most=most))
    return tuple(found)


def ddl(table: type[Row]) -> str:
    """Return the table's Spark DDL, key columns first."""
    return ", ".join(f"{c.name} {c.sql_type}{'' if c.nullable else ' NOT NULL'}" for c in (*KEY, *columns(table)))


class Columns(Protocol):
    """What the model uses of a `pyarrow.Table`, which it does not know: one column for each field of a row."""

    num_rows: int

    def to_pylist(self) -> list[dict[str, Any]]: ...  # noqa: D102 -- pyarrow's


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """All views and probes of one run, complete or not.

    Attributes:
        snapshot_id: names the run.
        cluster: the name in the cluster file.
        cluster_id: Kafka's, or `unknown:<cluster>` where it is not known.
        rows: of all tables but those in `LARGE`.
        large: the tables in `LARGE` as `pyarrow.Table`, without `KEY`; one that is not there is empty. A small snapshot, as in a
            test, may hold their rows in `rows` instead.
    """

    snapshot_id: str
    cluster: str
    cluster_id: str
    rows: tuple[Row, ...]
    large: Mapping[type[Row], Columns] = field(default_factory=lambda: MappingProxyType({}))

    UNKNOWN_ID: ClassVar[str] = "unknown:"

    def of(self, table: type[_T]) -> tuple[_T, ...]:
        """Return the rows of one table."""
        if table in self.large and table not in self._decoded:
            self._decoded[table] = tuple(_rows(table, self.large[table]))
        return (*self._by_table.get(table, ()), *self._decoded.get(table, ()))

    @cached_property
    def _by_table(self) -> dict[type[Row], tuple[Any, ...]]:
        # Every check asks for its tables: one pass over the rows serves them all.
        found: dict[type[Row], list[Row]] = {}
        for row in self.rows:
            found.setdefault(type(row), []).append(row)
        return {table: tuple(rows) for table, rows in found.items()}

    @cached_property
    def _decoded(self) -> dict[type[Row], tuple[Any, ...]]:
        return {}


def _rows(table: type[_T], columns: Columns) -> Iterator[_T]:
    """Yield a large table's rows, each sample's on its own."""
    for values in columns.to_pylist():
        row = table(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
        if isinstance(row, RegisteredTopic | RegisteredPartition):
            for sample in range(row.sample, row.last_sample + 1):
                yield replace(row, sample=sample, last_sample=sample)
        else:
            yield row
