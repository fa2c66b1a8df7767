"""Rows of the given tables as Arrow, as both engines take them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa

from kafka_audit.differences.tables import GIVEN, ChosenSample
from kafka_audit.model.tables import Row, columns

TYPES: Mapping[str, pa.DataType] = MappingProxyType(
    {
        "bigint": pa.int64(),
        "double": pa.float64(),
        "string": pa.string(),
        "boolean": pa.bool_(),
        "array<bigint>": pa.list_(pa.int64()),
        "array<string>": pa.list_(pa.string()),
    }
)
"""Arrow's type for each type of a column."""


def given_tables(given: Mapping[str, Sequence[Row]]) -> dict[str, pa.Table]:
    """Return every given table by its name, of all judged snapshots; one without rows is empty."""
    reported: dict[type[Row], list[tuple[str, Row]]] = {table: [] for table in GIVEN}
    for snapshot_id, rows in given.items():
        for row in rows:
            reported[type(row)].append((snapshot_id, row))
    return {table.table(): arrow_table(table, rows) for table, rows in reported.items()}


def modes(given: Mapping[str, Sequence[Row]]) -> set[bool]:
    """Return whether judged clusters are without ZooKeeper, as `files.shared_relation_sql` takes it."""
    return {row.kraft for rows in given.values() for row in rows if isinstance(row, ChosenSample)} or {False}


def arrow_table(table: type[Row], rows: Sequence[tuple[str, Row]]) -> pa.Table:
    """Return rows, each with the id of its snapshot, as a table with `snapshot_id` and the columns of their dataclass."""
    found = {"snapshot_id": pa.array([snapshot_id for snapshot_id, _ in rows], pa.string())}
    for column in columns(table):
        found[column.name] = pa.array([getattr(row, column.name) for _, row in rows], TYPES[column.sql_type])
    return pa.table(found)
