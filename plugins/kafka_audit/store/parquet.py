"""Rows of a snapshot to Parquet and back; the schema is `model.tables.columns` behind `KEY`."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_audit.model.tables import KEY, Row, columns

_ARROW: Mapping[str, pa.DataType] = MappingProxyType(
    {
        "bigint": pa.int64(),
        "double": pa.float64(),
        "string": pa.string(),
        "boolean": pa.bool_(),
        "array<bigint>": pa.list_(pa.int64()),
        "array<string>": pa.list_(pa.string()),
    }
)


REFUSALS = (pa.ArrowException, ValueError, TypeError, OverflowError)
"""What `encode` raises where a value does not fit its column."""


def schema(table: type[Row]) -> pa.Schema:
    """Return the Arrow schema of a table's file."""
    return pa.schema([pa.field(c.name, _ARROW[c.sql_type], nullable=c.nullable) for c in (*KEY, *columns(table))])


def encode(table: type[Row], rows: Sequence[Row], *, snapshot_id: str, cluster_id: str) -> bytes:
    """Return one table's file. The same rows give the same bytes."""
    data: dict[str, list[object]] = {"snapshot_id": [snapshot_id] * len(rows), "cluster_id": [cluster_id] * len(rows)}
    for field in dataclasses.fields(table):
        data[field.name] = [getattr(row, field.name) for row in rows]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(data, schema=schema(table)), sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


def require_columns(table: type[Row], content: bytes) -> None:
    """Raise as `decode` does where columns are missing or of another type; rows are not looked at."""
    found = pq.read_schema(pa.BufferReader(content))
    needed = {*(c.name for c in KEY), *(f.name for f in dataclasses.fields(table) if f.default is dataclasses.MISSING)}
    if missing := needed - set(found.names):
        msg = f"column {', '.join(sorted(missing))} is missing"
        raise ValueError(msg)
    for field in schema(table):
        if field.name in found.names and found.field(field.name).type != field.type:
            msg = f"column {field.name} is {found.field(field.name).type} where this version has {field.type}"
            raise ValueError(msg)


def decode(table: type[Row], content: bytes) -> list[Row]:
    """Return the rows of a file that `encode` wrote, also of an earlier version that lacked columns with a default.

    Raises:
        ValueError: unreadable, or without a column that the table cannot do without (pyarrow's own errors are ValueErrors).
        OSError: pyarrow's error for some damage.
    """
    require_columns(table, content)
    # Not pq.read_table: Arrow's own threads would still hold `content` when Python ends, and abort the process (GH-34314).
    read = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False).read(use_threads=False)
    wanted = [field for field in dataclasses.fields(table) if field.name in read.column_names]
    values = [_values(read.column(field.name)) for field in wanted]
    names = [field.name for field in wanted]
    return [table(**dict(zip(names, row, strict=True))) for row in zip(*values, strict=True)]


def _values(column: pa.ChunkedArray) -> list[object]:
    found: list[object] = column.to_pylist()
    if pa.types.is_list(column.type):
        return [tuple(value) if isinstance(value, list) else value for value in found]
    return found
