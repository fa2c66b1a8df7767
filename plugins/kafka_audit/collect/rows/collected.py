"""What was collected so far: rows, and the tables that grow with partitions as columns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from kafka_audit.collect.rows.columns import Lists, empty
from kafka_audit.model.tables import RegisteredPartition, Row, ViewPartition

Large = Mapping[type[Row], pa.Table]


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What one party, one sample or all of them gave.

    Attributes:
        rows: of all tables but those in `LARGE`.
        large: the tables in `LARGE` as `pyarrow.Table` with the columns of `model.tables`; one that is not there is empty.
    """

    rows: tuple[Row, ...] = ()
    large: Large = field(default_factory=lambda: MappingProxyType({}))

    def columns(self, table: type[Row]) -> pa.Table:
        """Return a table in `LARGE`."""
        return self.large[table] if table in self.large else empty(table)

    def assigned(self) -> set[int]:
        """Return the brokers to which ZooKeeper assigns partitions."""
        return self._replicas(RegisteredPartition)

    def assigned_by_views(self) -> set[int]:
        """Return those to which brokers list partitions, which is all that is known of one that is gone in KRaft."""
        return self._replicas(ViewPartition)

    def _replicas(self, table: type[Row]) -> set[int]:
        return set(np.unique(Lists.column(self.columns(table), "replicas").flat()).tolist())


def merged(parts: Iterable[Collected]) -> Collected:
    """Return what all parts gave, in their order."""
    rows: list[Row] = []
    large: dict[type[Row], list[pa.Table]] = {}
    for part in parts:
        rows += part.rows
        for table, data in part.large.items():
            large.setdefault(table, []).append(data)
    return Collected(rows=tuple(rows), large=MappingProxyType({table: pa.concat_tables(parts) for table, parts in large.items()}))
