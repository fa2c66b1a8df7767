"""Which rows of a snapshot count: those of its newest sample, and those of the sample before."""

from collections import defaultdict
from functools import cached_property
from typing import TypeVar

from kafka_audit.model.tables import Row, Sample, Snapshot, SnapshotInfo, SourceRead

_R = TypeVar("_R", bound=Row)


class Samples:
    """The small tables of one snapshot by sample; of None, empty ones."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        """Keep the snapshot; rows are indexed when first asked for."""
        self.snapshot = snapshot
        self._index: dict[type[Row], dict[int | None, tuple[Row, ...]]] = {}

    @cached_property
    def numbers(self) -> tuple[int | None, int | None]:
        """The numbers of the newest sample and of the one before it; None where there is none."""
        found = sorted({row.sample for row in self.of(Sample)}, reverse=True)
        return (found[0] if found else None, found[1] if len(found) > 1 else None)

    def of(self, table: type[_R]) -> tuple[_R, ...]:
        """Return all rows of a table."""
        return () if self.snapshot is None else self.snapshot.of(table)

    def at(self, table: type[_R], sample: int | None) -> tuple[_R, ...]:
        """Return the rows of one sample; of a table that knows no samples, all."""
        if sample is None:
            return ()
        held = self._index.get(table)
        if held is None:
            by_sample: dict[int | None, list[Row]] = defaultdict(list)
            for row in self.of(table):
                by_sample[getattr(row, "sample", None)].append(row)
            held = self._index[table] = {number: tuple(rows) for number, rows in by_sample.items()}
        return held.get(sample, held.get(None, ()))  # type: ignore[return-value] # by construction

    @cached_property
    def info(self) -> SnapshotInfo | None:
        """What was audited."""
        return next(iter(self.of(SnapshotInfo)), None)

    @cached_property
    def kraft(self) -> bool:
        """Whether there is no ZooKeeper."""
        return self.info is not None and self.info.mode == "kraft"

    @cached_property
    def last_reads(self) -> tuple[SourceRead, ...]:
        """Every read as it ended when it was asked last."""
        last: dict[tuple[str, str, str], SourceRead] = {}
        for read in self.of(SourceRead):
            key = (read.observer, read.operation, read.target)
            if key not in last or read.sample >= last[key].sample:
                last[key] = read
        return tuple(last.values())
