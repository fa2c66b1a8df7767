"""All rows of a view, by kind: what checks, faults and reports ask."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.progress import ProgressRow, progress_kinds
from kafka_audit.progress.copies import Copies
from kafka_audit.progress.groups import rebalances
from kafka_audit.progress.metadata import unapplied_metadata
from kafka_audit.progress.migrations import migrations
from kafka_audit.progress.recoveries import recoveries
from kafka_audit.progress.rule import Observed, ProgressTimes, judged
from kafka_audit.progress.shares import share_groups
from kafka_audit.progress.shutdowns import shutdowns
from kafka_audit.progress.starts import repeated_starts
from kafka_audit.progress.states import deletions, leaders_away, loading_coordinators
from kafka_audit.progress.tiers import copies_to_tier
from kafka_audit.progress.transactions import OpenTransactions

_KINDS: Mapping[str, Callable[[ClusterView], Iterable[Observed]]] = MappingProxyType(
    {
        "migration": migrations,
        "reassignment": lambda view: view.derived(Copies).reassignments(),
        "catch_up": lambda view: view.derived(Copies).catch_ups(),
        "start": repeated_starts,
        "shutdown": shutdowns,
        "recovery": recoveries,
        "metadata": unapplied_metadata,
        "coordinator": loading_coordinators,
        "group": rebalances,
        "share": share_groups,
        "deletion": deletions,
        "leaders": leaders_away,
        "tier": copies_to_tier,
        "transaction": lambda view: view.derived(OpenTransactions).rows(),
    }
)


class AllProgress:
    """What is on its way in one view."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the view; each kind is read when it is first asked for."""
        self._view = view
        self._times = ProgressTimes(view)
        self._rows: dict[str, tuple[ProgressRow, ...]] = {}

    def of_kind(self, kind: str) -> tuple[ProgressRow, ...]:
        """Return the rows of a kind."""
        if kind not in self._rows:
            self._rows[kind] = tuple(judged(self._times, seen) for seen in _KINDS[kind](self._view))
        return self._rows[kind]

    @property
    def all(self) -> tuple[ProgressRow, ...]:
        """The rows of all kinds, those that stand still first, in the order of kinds."""
        rows = (row for kind in progress_kinds() if kind in _KINDS for row in self.of_kind(kind))
        return tuple(sorted(rows, key=lambda row: ("standing", "moving", "unknown").index(row.state)))


def progress_of(view: ClusterView) -> AllProgress:
    """Return what is on its way in a view, the same each time."""
    return view.derived(AllProgress)
