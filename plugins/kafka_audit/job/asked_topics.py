"""The topics that a user asks about, measured in a snapshot that was judged."""

from collections.abc import Iterable

from kafka_audit.bounds.scratch import Scratch
from kafka_audit.cluster.given import given
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import OF_TOPICS, AskedTopic, ListAge
from kafka_audit.job.embedded_job import measure_of
from kafka_audit.model.tables import Row
from kafka_audit.store import Store


def with_topics(store: Store, view: ClusterView, topics: Iterable[str]) -> ClusterView:
    """Return a view with the partitions and the settings of these topics, and how many replicas topics have.

    Raises:
        SnapshotError: a table of the snapshot is damaged.
        EngineError: a query failed.
    """
    with Scratch() as scratch:
        measure = measure_of(store, scratch.path, [view.snapshot_id])
        found = measure.differences({view.snapshot_id: rows_of_topics(view, topics)}, OF_TOPICS)
    return with_rows_of_topics(view, found[view.snapshot_id])


def rows_of_topics(view: ClusterView, topics: Iterable[str]) -> tuple[Row, ...]:
    """Return what the engine is given to measure them."""
    rows = given(view.snapshot, None, view.differences.rows.get(ListAge, ()), ())  # type: ignore[arg-type] # by table
    return (*rows, *(AskedTopic(topic=topic) for topic in sorted(topics)))


def with_rows_of_topics(view: ClusterView, found: Differences) -> ClusterView:
    """Return a view with what the engine returned."""
    return ClusterView(view.snapshot, view.previous, Differences(rows={**view.differences.rows, **found.rows}))
