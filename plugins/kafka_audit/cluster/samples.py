"""Which rows of a snapshot count: those of its newest sample, and those of the sample before."""

from collections import defaultdict
from functools import cached_property
from typing import TypeVar

from kafka_audit.model.asked_again import of_both, with_others
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
        """Return the rows of one sample; of a table that knows no samples, all.

        If the newest sample asked only some parties, it has the others' rows of the sample before, and that one has only what the
        newest may confirm: no row counts as seen twice that was read once.
        """
        if sample is None:
            return ()
        held = self._index.get(table)
        if held is None:
            held = self._index[table] = self._by_sample(table)
        return held.get(sample, held.get(None, ()))  # type: ignore[return-value] # by construction

    def _by_sample(self, table: type[Row]) -> dict[int | None, tuple[Row, ...]]:
        by_sample: dict[int | None, list[Row]] = defaultdict(list)
        for row in self.of(table):
            by_sample[getattr(row, "sample", None)].append(row)
        newest, before = self.numbers
        if self._asked_again is not None and before is not None and None not in by_sample:
            first = by_sample[before]
            by_sample[newest] = with_others(by_sample[newest], first, self._asked_again)
            by_sample[before] = of_both(first, self._asked_again)
        return {number: tuple(rows) for number, rows in by_sample.items()}

    @cached_property
    def _asked_again(self) -> frozenset[str] | None:
        """The parties that the newest sample asked; None for all."""
        newest = next((row for row in self.of(Sample) if row.sample == self.numbers[0]), None)
        return None if newest is None or newest.asked_again is None else frozenset(newest.asked_again)

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
        """Every read as it ended when it was asked last: by party, those first without which it gives nothing else."""
        last: dict[tuple[str, str, str], SourceRead] = {}
        for read in self.of(SourceRead):
            key = (read.observer, read.operation, read.target)
            if key not in last or read.sample >= last[key].sample:
                last[key] = read
        return tuple(sorted(last.values(), key=_order))


_FIRST = ("ApiVersions", "Metadata")


def _order(read: SourceRead) -> tuple[str, int, str, str]:
    place = _FIRST.index(read.operation) if read.operation in _FIRST else len(_FIRST)
    return read.observer, place, read.operation, read.target
