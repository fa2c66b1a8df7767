"""Columns of the tables that grow with partitions, as Arrow and numpy hold them; nothing here makes an object of a partition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit.model.tables import Row, columns

Ints: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

NONE = int(np.iinfo(np.int64).min)
"""Null in an array of numbers; no column contains this number."""

_TYPES: Mapping[str, pa.DataType] = MappingProxyType(
    {"bigint": pa.int64(), "string": pa.string(), "boolean": pa.bool_(), "array<bigint>": pa.list_(pa.int64())}
)


def table(kind: type[Row], /, **values: object) -> pa.Table:
    """Return a table of a kind in `LARGE` from its columns by name: Arrow arrays, numpy arrays, lists, `Lists`.

    Raises:
        ValueError: a column holds what its type cannot (pyarrow's own errors are ValueErrors), or has another length.
    """
    return pa.table([_array(values[column.name], _TYPES[column.sql_type]) for column in columns(kind)], names=[*_names(kind)])


def empty(kind: type[Row]) -> pa.Table:
    """Return a table without rows."""
    return table(kind, **{name: [] for name in _names(kind)})


def _names(kind: type[Row]) -> list[str]:
    return [column.name for column in columns(kind)]


def _array(values: object, type_: pa.DataType) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, Lists):
        return values.arrow()
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values if values.type == type_ else values.cast(type_)
    return pa.array(values, type_)


def nullable(values: Ints) -> pa.Array:
    """Return numbers as Arrow has them, `NONE` as null."""
    return pa.array(values, pa.int64(), mask=values == NONE)


def int_column(data: pa.Table, name: str) -> Ints:
    """Return a column of numbers; null is `NONE`."""
    found: Ints = pc.fill_null(data.column(name), NONE).to_numpy()
    return found


def flags(data: pa.Table, name: str) -> Flags:
    """Return a column of booleans, none of which is null."""
    values: Flags = data.column(name).to_numpy()
    return values


def texts(data: pa.Table, name: str) -> pa.StringArray:
    """Return a column of texts in one piece."""
    found = data.column(name).combine_chunks()
    return found if isinstance(found, pa.Array) else pa.concat_arrays(found.chunks)


def positions(of: pa.Array, among: pa.Array) -> Ints:
    """Return the index of each value in a list of distinct values, -1 if it is missing."""
    found: Ints = pc.fill_null(pc.index_in(of, value_set=among), -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


@dataclass(frozen=True)
class Lists:
    """Lists of numbers, one after the other: list i is `values[offsets[i]:offsets[i + 1]]`. `null`: which are null, if any."""

    offsets: Ints
    values: Ints
    null: Flags | None = None

    @classmethod
    def column(cls, data: pa.Table, name: str) -> "Lists":
        """Return a column of lists."""
        found = data.column(name).combine_chunks()
        null = found.is_null().to_numpy(zero_copy_only=False) if found.null_count else None
        return cls(found.offsets.to_numpy().astype(np.int64), found.values.to_numpy().astype(np.int64), null)

    @classmethod
    def of_lengths(cls, lengths: Ints, values: Ints, null: Flags | None = None) -> "Lists":
        """Return lists of these lengths."""
        return cls(np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))), values, null)

    @classmethod
    def joined(cls, parts: Sequence["Lists"]) -> "Lists":
        """Return the lists of all parts, one after the other."""
        lengths = np.concatenate([column.lengths for column in parts])
        with_null = any(column.null is not None for column in parts)
        null = [np.zeros(len(column), np.bool_) if column.null is None else column.null for column in parts]
        return cls.of_lengths(
            lengths, np.concatenate([column.flat() for column in parts]), np.concatenate(null) if with_null else None
        )

    def __len__(self) -> int:
        """How many lists there are."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Ints:
        """How long each list is; 0 for null."""
        return np.diff(self.offsets)

    def owners(self) -> Ints:
        """Return for each value, list by list, which list it is in."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def flat(self) -> Ints:
        """Return the values, list by list."""
        return self.values[self.offsets[0] : self.offsets[-1]]

    def take(self, places: Ints) -> "Lists":
        """Return some of the lists, in this order."""
        lengths = self.lengths[places]
        column = Lists.of_lengths(lengths, np.empty(0, np.int64), None if self.null is None else self.null[places])
        within = np.arange(column.offsets[-1]) - np.repeat(column.offsets[:-1], lengths)
        return Lists(column.offsets, self.values[np.repeat(self.offsets[:-1][places], lengths) + within], column.null)

    def sorted(self) -> "Lists":
        """Return the lists with the values of each in order."""
        values, owners = self.flat(), self.owners()
        out_of_order = (values[1:] < values[:-1]) & (owners[1:] == owners[:-1])
        if out_of_order.any():
            values = values[np.lexsort((values, owners))]
        return Lists(self.offsets - self.offsets[0], values, self.null)

    def equal(self, other: "Lists") -> Flags:
        """Return which lists are equal to those of as many others, place by place; null is equal to nothing but null."""
        same: Flags = self.lengths == other.lengths
        for column, two in ((self, other), (other, self)):
            if column.null is not None:
                same &= ~column.null if two.null is None else column.null == two.null
        places = np.flatnonzero(same)
        column, two = self.take(places), other.take(places)
        same[places[np.unique(column.owners()[column.values != two.values])]] = False
        return same

    def arrow(self) -> pa.ListArray:
        """Return them as Arrow has them."""
        offsets = pa.array(self.offsets - self.offsets[0], pa.int32())
        mask = None if self.null is None else pa.array(self.null)
        return pa.ListArray.from_arrays(offsets, pa.array(self.flat(), pa.int64()), mask=mask)
