"""The files of `differences/` in DuckDB: the very same text, put into its words by sqlglot. Many pairs at once, without Java."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot

from kafka_audit.differences import files
from kafka_audit.differences.alike import without_equal_views
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES, GIVEN, ChosenSample, ListAge
from kafka_audit.model.tables import LARGE, Row, Snapshot, columns

ARROW = {
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "array<bigint>": pa.list_(pa.int64()),
    "array<string>": pa.list_(pa.string()),
}

# Spark's functions that sqlglot passes on as they are.
MACROS = """
CREATE MACRO get(items, place) AS items[place + 1];
CREATE MACRO arrays_overlap(a, b) AS list_has_any(a, b);
"""


@cache
def in_duckdb(text: str) -> str:
    """Return a SELECT of Spark's in the words of DuckDB."""
    return sqlglot.transpile(text, read="spark", write="duckdb")[0]


def measure(snapshots: Iterable[Snapshot], given: Mapping[str, Sequence[Row]]) -> dict[str, Differences]:
    """Return the differences of every snapshot that is given something; `snapshots` hold the previous ones too."""
    same = without_equal_views(given)
    with connected(snapshots, same.given) as connection:
        found = _run(connection, same.given, DIFFERENCES)
    return {
        snapshot_id: Differences.from_rows(DIFFERENCES, same.spread(snapshot_id, found[snapshot_id])) for snapshot_id in given
    }


def list_ages(snapshots: Iterable[Snapshot], given: Mapping[str, Sequence[Row]]) -> dict[str, tuple[ListAge, ...]]:
    """Return how old the lists are that `ReferenceList` rows name, by snapshot."""
    with connected(snapshots, given) as connection:
        found = _run(connection, given, (ListAge,))
    return {name: tuple(row for row in found[name] if isinstance(row, ListAge)) for name in given}


def connected(snapshots: Iterable[Snapshot], given: Mapping[str, Sequence[Row]]) -> duckdb.DuckDBPyConnection:
    """Return a connection that has stored and given tables."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(MACROS)
    rows: dict[type[Row], list[tuple[str, Row]]] = defaultdict(list)
    for snapshot in snapshots:
        for table in LARGE:
            rows[table] += [(snapshot.snapshot_id, row) for row in snapshot.of(table)]
    for snapshot_id, told in given.items():
        for row in told:
            rows[type(row)].append((snapshot_id, row))
    for table in (*LARGE, *GIVEN):
        connection.register(table.table(), _arrow(table, rows[table]))
    return connection


def _arrow(table: type[Row], rows: list[tuple[str, Row]]) -> pa.Table:
    kinds = {column.name: ARROW[column.sql_type] for column in columns(table)}
    data: dict[str, Any] = {"snapshot_id": pa.array([one for one, _ in rows], pa.string())}
    data |= {name: pa.array([getattr(row, name) for _, row in rows], kind) for name, kind in kinds.items()}
    return pa.table(data)


def _run(
    connection: duckdb.DuckDBPyConnection, given: Mapping[str, Sequence[Row]], tables: Iterable[type[Row]]
) -> dict[str, list[Row]]:
    modes = {row.kraft for rows in given.values() for row in rows if isinstance(row, ChosenSample)}
    for name in files.SHARED:
        connection.execute(f"CREATE TABLE {name} AS {in_duckdb(files.shared_relation_sql(name, modes or {False}))}")
    found: dict[str, list[Row]] = defaultdict(list)
    for table in tables:
        names = [column.name for column in columns(table)]
        for snapshot_id, *values in connection.execute(in_duckdb(files.statement(table))).fetchall():
            cells = (tuple(value) if isinstance(value, list) else value for value in values)
            found[snapshot_id].append(table(**dict(zip(names, cells, strict=True))))
    return found
