"""Rows of given tables, and of small stored ones, as Arrow."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa
from pyarrow import parquet

from kafka_audit.differences.tables import GIVEN, ChosenSample
from kafka_audit.model.tables import KEY, Row, columns

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


def stored_rows(table: type[Row], files: Mapping[str, str]) -> pa.Table:
    """Return the rows of Parquet files on this machine; a column that an older file lacks is null.

    Args:
        table: the table.
        files: the path of a file by the snapshot whose rows it has; two snapshots may share a file.

    Raises:
        OSError: a file is not there.
        pyarrow.ArrowException: a file is no Parquet, or a column has another type.
    """
    schema = pa.schema([(column.name, TYPES[column.sql_type]) for column in (*KEY, *columns(table))])
    found = [schema.empty_table()]
    for snapshot_id, path in files.items():
        rows = parquet.read_table(path, schema=schema, partitioning=None)
        found.append(rows.set_column(0, schema.field(0), pa.repeat(pa.scalar(snapshot_id), rows.num_rows)))
    return pa.concat_tables(found)
