"""What a user asks about losses, answered from one snapshot: DuckDB measures what becomes of partitions, Python the rest."""

from collections.abc import Callable, Mapping, Sequence

from kafka_audit.bounds.scratch import Scratch
from kafka_audit.cluster.given import ages_needed, given
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import (
    DIFFERENCES,
    OF_LOSSES,
    BrokerShare,
    FollowedLeader,
    InternalTopic,
    ListAge,
    ListCount,
    LossCount,
    PartitionCount,
    ReplicaFault,
    ReplicaGap,
    ReplicaState,
    ViewDifference,
)
from kafka_audit.job.embedded_job import measure_of
from kafka_audit.job.judging import Measure
from kafka_audit.model.tables import Row, Snapshot
from kafka_audit.store import Store
from kafka_audit.what_if.answer import Answer, answer
from kafka_audit.what_if.losses import PartyLoss
from kafka_audit.what_if.unreached import unreached_rows

_READ: tuple[type[Row], ...] = (
    PartitionCount,
    ListCount,
    BrokerShare,
    ViewDifference,
    ReplicaGap,
    ReplicaState,
    ReplicaFault,
    InternalTopic,
    FollowedLeader,
    LossCount,
)
"""The tables that answers read."""

Asked = Callable[[ClusterView], Sequence[PartyLoss]]
"""Returns the losses that a user asks about; raises UsageError for parties that a cluster does not have."""


def answers(  # noqa: PLR0913 -- what a user asks, and by what
    store: Store, snapshot_id: str, asked: Asked, *, margin: int = 0, bootstrap: Sequence[str] = (), complete: bool = True
) -> tuple[ClusterView, tuple[Answer, ...]]:
    """Return the view that was asked, and the answer to each loss, in order.

    Args:
        store: where the snapshot is.
        snapshot_id: the snapshot.
        asked: the losses. It is called twice: before partitions are measured the view has none of them.
        margin: how many copies more than needed must be left.
        bootstrap: the addresses of the cluster file.
        complete: with all partitions; otherwise how many there are, and the first ten.

    Raises:
        UsageError: a loss names what the cluster does not have.
        SnapshotError: the snapshot is not published, or damaged.
        EngineError: a query failed.
    """
    store.verify_tables(snapshot_id)
    snapshot = store.read(snapshot_id, large=False)
    with Scratch() as scratch:
        view = measured_view(snapshot, measure_of(store, scratch.path, [snapshot_id]), asked, margin, complete=complete)
    return view, tuple(answer(view, loss, margin=margin, bootstrap=bootstrap) for loss in asked(view))


def measured_view(snapshot: Snapshot, measure: Measure, asked: Asked, margin: int, *, complete: bool = True) -> ClusterView:
    """Return the view of a snapshot with what becomes of partitions in each of the losses; arguments as above."""
    name = snapshot.snapshot_id
    ages: Sequence[ListAge] = ()
    if ages_needed(snapshot, None):
        ages = measure.ages({name: given(snapshot, None, ())})[name]
    nothing: Mapping[type[Row], tuple[Row, ...]] = {**dict.fromkeys(DIFFERENCES, ()), ListAge: tuple(ages)}
    first = ClusterView(snapshot, None, Differences(rows={**nothing}))
    lost = [row for loss in asked(first) for row in loss.given(first, margin)]
    rows = (*given(snapshot, None, ages, lost), *unreached_rows(snapshot))
    found = measure.differences({name: rows}, (*_READ, *(OF_LOSSES if complete else ())))[name]
    return ClusterView(snapshot, None, Differences(rows={**nothing, **found.rows}))
