"""Observers that hold the very same views are compared once: SQL sees one of them, and what it finds is said of all."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_audit.differences.tables import ObserverView, ViewDifference
from kafka_audit.model.tables import Row


@dataclass(frozen=True)
class Alike:
    """Given tables in which one observer represents all with the same views.

    Attributes:
        given: rows of the given tables by snapshot.
        names: by snapshot and the observer that is given, all that it represents, including itself.
    """

    given: Mapping[str, tuple[Row, ...]]
    names: Mapping[tuple[str, str], tuple[str, ...]]

    def spread(self, snapshot_id: str, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Return difference rows of a snapshot, with one row for each represented observer."""
        found: list[Row] = []
        for row in rows:
            if isinstance(row, ViewDifference):
                found.extend(replace(row, name=name) for name in self.names[snapshot_id, row.name])
            else:
                found.append(row)
        return tuple(found)


def without_equal_views(given: Mapping[str, Sequence[Row]]) -> Alike:
    """Return given tables without observers that hold in each sample, on each listener, what another one holds."""
    kept: dict[str, tuple[Row, ...]] = {}
    names: dict[tuple[str, str], tuple[str, ...]] = {}
    for snapshot_id, rows in given.items():
        held: dict[str, set[ObserverView]] = defaultdict(set)
        for row in rows:
            if isinstance(row, ObserverView):
                held[row.name].add(replace(row, name=""))
        groups: dict[frozenset[ObserverView], list[str]] = defaultdict(list)
        for name, views in held.items():
            groups[frozenset(views)].append(name)
        names |= {(snapshot_id, group[0]): tuple(group) for group in groups.values()}
        kept[snapshot_id] = tuple(row for row in rows if not isinstance(row, ObserverView) or (snapshot_id, row.name) in names)
    return Alike(given=kept, names=names)
