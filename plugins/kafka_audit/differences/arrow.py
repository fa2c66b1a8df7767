"""Rows of the given tables as Arrow, as both engines take them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa

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


def arrow_table(table: type[Row], rows: Sequence[tuple[str, Row]]) -> pa.Table:
    """Return rows, each with the id of its snapshot, as a table with `snapshot_id` and the columns of their dataclass."""
    found = {"snapshot_id": pa.array([snapshot_id for snapshot_id, _ in rows], pa.string())}
    for column in columns(table):
        found[column.name] = pa.array([getattr(row, column.name) for _, row in rows], TYPES[column.sql_type])
    return pa.table(found)
