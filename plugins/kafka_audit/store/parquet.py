"""Rows of a snapshot to Parquet and back; the schema is `model.tables.columns` behind `KEY`."""

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kafka_audit.model.tables import KEY, LARGE, Column, Row, columns
from kafka_audit.model.tables.fitting import MOST_TEXT, fault_of

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

_MANY_VALUES = frozenset({"topic", "topic_id", "topic_digest", "content_digest", "replicas", "isr", "czxid", "mzxid"})
"""Columns of tables in `LARGE` that hold so many different values that a dictionary of them takes more space than it saves."""

_DELTA: Mapping[pa.DataType, str] = MappingProxyType({pa.string(): "DELTA_BYTE_ARRAY", pa.int64(): "DELTA_BINARY_PACKED"})
"""What they are written in instead: Spark's fast reader takes these, but not `BYTE_STREAM_SPLIT`."""

_BATCH_ROWS = 4096  # of which none is larger than the rest of the room by much
_PYTHON_BYTES = 512

REFUSALS = (pa.ArrowException, ValueError, TypeError, OverflowError)
"""What `encode` raises where a value does not fit its column."""


def schema(table: type[Row]) -> pa.Schema:
    """Return the Arrow schema of a table's file."""
    return pa.schema([pa.field(c.name, _ARROW[c.sql_type], nullable=c.nullable) for c in (*KEY, *columns(table))])


def table_of(table: type[Row], rows: Sequence[Row]) -> pa.Table:
    """Return rows as columns, without `KEY`; raises one of `REFUSALS` where a value does not fit its column."""
    data = {field.name: [getattr(row, field.name) for row in rows] for field in dataclasses.fields(table)}
    return pa.table(data, schema=_own(table))


def joined(table: type[Row], rows: Sequence[Row], columns: pa.Table | None) -> pa.Table:
    """Return rows and columns of the same table, one below the other; raises one of `REFUSALS`."""
    found = table_of(table, rows)
    if columns is None:
        return found
    own = _own(table)
    return pa.concat_tables([found, columns.select(own.names).cast(own)])


def encode(table: type[Row], data: pa.Table, *, snapshot_id: str, cluster_id: str) -> bytes:
    """Return one table's file. The same rows give the same bytes. Raises one of `REFUSALS`."""
    return _encoded(table, data, snapshot_id, cluster_id) if data.num_rows else _empty(table)


_EMPTY: dict[type[Row], tuple[pa.Table, bytes]] = {}
"""Tables without rows that this process has written, as many of a snapshot are, and their files: none names a snapshot."""


def _empty(table: type[Row]) -> bytes:
    if table not in _EMPTY:
        data = table_of(table, ())
        _EMPTY[table] = data, _encoded(table, data, "", "")
    return _EMPTY[table][1]


def _known(table: type[Row], content: bytes) -> pa.Table | None:
    """Return the table without rows, if that is what a file has and this process wrote it: it is not decoded."""
    data, of_none = _EMPTY.get(table, (None, b""))
    return data if content == of_none else None


def _encoded(table: type[Row], data: pa.Table, snapshot_id: str, cluster_id: str) -> bytes:
    key = [pa.repeat(pa.scalar(value), data.num_rows) for value in (snapshot_id, cluster_id)]
    sink = pa.BufferOutputStream()
    found = schema(table)
    deltas = {_leaf(field): _DELTA[_value_type(field)] for field in found if table in LARGE and field.name in _MANY_VALUES}
    dictionary = [_leaf(field) for field in found if _leaf(field) not in deltas]
    pq.write_table(
        pa.table([*key, *data.columns], schema=found),
        sink,
        compression="zstd",
        use_dictionary=dictionary,
        column_encoding=deltas or None,
        write_statistics=table in LARGE,  # a fifth of a small file, and no reader of one skips rows by them
    )
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _value_type(field: pa.Field) -> pa.DataType:
    return field.type.value_type if pa.types.is_list(field.type) else field.type


def _leaf(field: pa.Field) -> str:
    """Return the name of a column as Parquet has it."""
    return f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name


def _own(table: type[Row]) -> pa.Schema:
    """Return the schema of a table without `KEY`."""
    return pa.schema(list(schema(table))[len(KEY) :])


def require_columns(table: type[Row], content: bytes) -> None:
    """Raise as `decode` does where columns are missing or of another type; rows are not read."""
    if _known(table, content) is None:
        _require_columns(table, pq.read_schema(pa.BufferReader(content)))


def _require_columns(table: type[Row], found: pa.Schema) -> None:
    if len(set(found.names)) < len(found.names):
        msg = "a column is there twice"
        raise ValueError(msg)
    needed = {*(c.name for c in KEY), *(f.name for f in dataclasses.fields(table) if f.default is dataclasses.MISSING)}
    if missing := needed - set(found.names):
        msg = f"column {', '.join(sorted(missing))} is missing"
        raise ValueError(msg)
    for field in schema(table):
        if field.name in found.names and found.field(field.name).type != field.type:
            msg = f"column {field.name} has type {found.field(field.name).type}, but this version requires {field.type}"
            raise ValueError(msg)


def decode(table: type[Row], content: bytes) -> pa.Table:
    """Return the columns of a file that `encode` wrote, without `KEY`; a column that an earlier version lacked is not there.

    Raises:
        ValueError: unreadable, or without a column that the table cannot do without (pyarrow's own errors are ValueErrors).
        OSError: pyarrow's error for some damage.
    """
    if (known := _known(table, content)) is not None:
        return known
    # Not pq.read_table: Arrow's own threads would still hold `content` when Python ends, and abort the process (GH-34314).
    file = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False)
    _require_columns(table, file.schema_arrow)
    read = file.read(use_threads=False)
    return read.select([field.name for field in dataclasses.fields(table) if field.name in read.column_names])


@dataclasses.dataclass
class Room:
    """What files of another party may still take in memory. A row of a small table becomes an object of Python."""

    rows: int
    bytes: int

    def take(self, table: type[Row], rows: int, size: int) -> None:
        """Take room for rows of a table; raises ValueError where none is left."""
        self.rows -= rows
        self.bytes -= size + (0 if table in LARGE else rows * _PYTHON_BYTES)
        if self.rows < 0 or self.bytes < 0:
            msg = "has more rows than a snapshot of the largest cluster" if self.rows < 0 else "takes too much memory"
            raise ValueError(msg)


def decode_checked(table: type[Row], content: bytes, room: Room) -> pa.Table:
    """Return the columns of a file of another party, without `KEY`; those that an earlier version lacked have their default.

    Raises:
        ValueError: as `decode`; or there is no room for its rows, or a value does not fit: which column, and what the value is.
        OSError: as `decode`.
    """
    file = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False)
    _require_columns(table, file.schema_arrow)
    dataclasses.replace(room).take(table, file.metadata.num_rows, 0)  # before anything is unpacked
    batches = []
    for batch in file.iter_batches(_BATCH_ROWS, columns=[f.name for f in dataclasses.fields(table)], use_threads=False):
        room.take(table, batch.num_rows, batch.nbytes)
        batches.append(batch)
    data = pa.Table.from_batches(batches, batches[0].schema) if batches else file.schema_arrow.empty_table()
    data.validate(full=True)
    for column in columns(table):
        if column.name in data.column_names and (fault := _fault(column, data.column(column.name))):
            msg = f"{table.table()}.{column.name} is {fault}"
            raise ValueError(msg)
    for field in dataclasses.fields(table):
        if field.name not in data.column_names:
            default = pa.scalar(field.default, schema(table).field(field.name).type)
            data = data.append_column(field.name, pa.repeat(default, data.num_rows))
    own = _own(table)
    return data.select(own.names).cast(own)


def _fault(column: Column, values: pa.ChunkedArray) -> str | None:
    """Return why one of the values does not fit: those that are judged are the least and the most that there is."""
    if values.null_count and not column.nullable:
        return "null"
    fault, are_lists = fault_of(column), pa.types.is_list(values.type)
    values = pc.list_flatten(values) if are_lists else values.drop_null()
    if pa.types.is_integer(values.type):
        found = [*pc.min_max(values).as_py().values()]
    elif pa.types.is_string(values.type):
        found = [max(values.filter(pc.greater(pc.utf8_length(values), MOST_TEXT)).slice(0, 1).to_pylist(), default="")]
    elif pa.types.is_floating(values.type):
        found = values.filter(pc.invert(pc.is_finite(values))).slice(0, 1).to_pylist()
    else:
        found = []
    found += [None] * bool(values.null_count)
    return next(filter(None, (fault((value,) if are_lists else value) for value in found if len(values))), None)


def rows_of(table: type[Row], data: pa.Table) -> list[Row]:
    """Return columns as rows; one that is not there takes its default."""
    values = [_values(column) for column in data.columns]
    return [table(**dict(zip(data.column_names, row, strict=True))) for row in zip(*values, strict=True)]


def _values(column: pa.ChunkedArray) -> list[object]:
    values: list[object] = column.to_pylist()
    if pa.types.is_list(column.type):
        return [tuple(value) if isinstance(value, list) else value for value in values]
    return values
