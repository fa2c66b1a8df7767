"""The topics that a user asks about, measured in a snapshot that was judged."""

from collections.abc import Iterable

from kafka_audit.bounds.scratch import Scratch
from kafka_audit.cluster.given import given
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import OF_TOPICS, AskedTopic, ListAge
from kafka_audit.job.embedded_job import measure_of
from kafka_audit.job.judging import Measure
from kafka_audit.store import Store


def with_topics(store: Store, view: ClusterView, topics: Iterable[str]) -> ClusterView:
    """Return a view with the partitions and the settings of these topics, and how many replicas topics have.

    Raises:
        SnapshotError: a table of the snapshot is damaged.
        EngineError: a query failed.
    """
    with Scratch() as scratch:
        return view_with_topics(view, measure_of(store, scratch.path, [view.snapshot_id]), topics)


def view_with_topics(view: ClusterView, measure: Measure, topics: Iterable[str]) -> ClusterView:
    """Return the same, by what measures the snapshot."""
    rows = given(view.snapshot, None, view.differences.rows.get(ListAge, ()), ())  # type: ignore[arg-type] # by table
    asked = (AskedTopic(topic=topic) for topic in sorted(topics))
    found = measure.differences({view.snapshot_id: (*rows, *asked)}, OF_TOPICS)[view.snapshot_id]
    return ClusterView(view.snapshot, view.previous, Differences(rows={**view.differences.rows, **found.rows}))
