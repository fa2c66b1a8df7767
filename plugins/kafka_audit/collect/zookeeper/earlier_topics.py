"""Topics as an earlier sample read them: the next one reads those that are in doubt, that are new, or that are being deleted."""

from collections.abc import Collection, Sequence
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit.collect.rows.collected import Collected, Large
from kafka_audit.collect.rows.columns import positions, texts
from kafka_audit.model.tables import RegisteredTopic, Row


class EarlierTopics:
    """What a sample knows before it reads topics."""

    def __init__(self, earlier: Collected, again: Collection[str]) -> None:
        """Take the earlier sample, and the topics in doubt."""
        self._earlier = earlier
        topics = earlier.columns(RegisteredTopic)
        names = texts(topics, "topic")
        self._known = frozenset(names.to_pylist())
        self._deleting = frozenset(names.filter(topics.column("deleting").combine_chunks()).to_pylist())
        self._again = frozenset(again)

    def to_read(self, listed: Sequence[str], deleting: Collection[str]) -> list[str]:
        """Return which of the topics that there are now must be read, in their order.

        Args:
            listed: the names below /brokers/topics.
            deleting: the names below /admin/delete_topics.
        """
        again = self._again | (self._deleting ^ (self._known & frozenset(deleting)))
        return [name for name in listed if name in again or name not in self._known]

    def whole(self, sample: int, listed: Sequence[str], read: Sequence[str], found: Large) -> Large:
        """Return the tables of all topics that there are now: those that were read, and the others as they were.

        Args:
            sample: number of the sample.
            listed: the names of all, sorted.
            read: those that were read.
            found: the tables of those.
        """
        order, again = pa.array(listed, pa.string()), pa.array(read, pa.string())
        return MappingProxyType({table: self._whole(table, sample, order, again, found) for table in found})

    def _whole(self, table: type[Row], sample: int, order: pa.Array, again: pa.Array, found: Large) -> pa.Table:
        data = self._earlier.columns(table)
        names = texts(data, "topic")
        as_before = data.filter(pc.and_(pc.is_in(names, value_set=order), pc.invert(pc.is_in(names, value_set=again))))
        for name in ("sample", "last_sample"):
            as_before = as_before.set_column(
                as_before.column_names.index(name), name, pa.repeat(pa.scalar(sample, pa.int64()), as_before.num_rows)
            )
        both = pa.concat_tables([as_before, found[table]])
        return both.take(pa.array(np.argsort(positions(texts(both, "topic"), order), kind="stable")))
