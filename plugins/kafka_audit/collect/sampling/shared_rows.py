"""Rows that two successive samples have in common: stored once, with the later sample as their last. Pure."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit.collect.rows.columns import Flags, Ints, Lists, int_column, positions, texts
from kafka_audit.collect.sampling.partition_differences import partition_names

_SAMPLES = frozenset({"sample", "last_sample"})
_PARTITION = "partition"


def without_repeated_rows(earlier: pa.Table, later: pa.Table) -> pa.Table:
    """Return registered topics or partitions of both samples; a row of the later one that is as it was is not repeated."""
    at = _places(later, earlier)
    known = np.flatnonzero(at >= 0)
    same = np.zeros(later.num_rows, np.bool_)
    same[known] = _equal(earlier.take(pa.array(at[known])), later.take(pa.array(known)))
    last = int_column(earlier, "last_sample").copy()
    last[at[same]] = int_column(later, "last_sample")[same]
    place = earlier.column_names.index("last_sample")
    return pa.concat_tables([earlier.set_column(place, earlier.field(place), pa.array(last)), later.filter(pa.array(~same))])


def _places(later: pa.Table, earlier: pa.Table) -> Ints:
    """Return the index of the topic or partition of each later row among the earlier rows, -1 if it is missing."""
    keys = [name for name in ("topic", _PARTITION) if name in later.column_names]
    if all(later.column(name).equals(earlier.column(name)) for name in keys):  # as it is nearly always
        return np.arange(later.num_rows)
    return positions(_keys(later), _keys(earlier))


def _keys(data: pa.Table) -> pa.StringArray:
    topics = texts(data, "topic")
    return partition_names(topics, int_column(data, _PARTITION)) if _PARTITION in data.column_names else topics


def _equal(table: pa.Table, two: pa.Table) -> Flags:
    """Return which rows are equal, place by place, whatever samples they are of."""
    same = np.ones(table.num_rows, np.bool_)
    for field in table.schema:
        if field.name in _SAMPLES:
            continue
        if pa.types.is_list(field.type):
            same &= Lists.column(table, field.name).equal(Lists.column(two, field.name))
        else:
            left, right = table.column(field.name), two.column(field.name)
            equal = pc.fill_null(pc.equal(left, right), pc.and_(pc.is_null(left), pc.is_null(right)))
            same &= equal.to_numpy()
    return same
