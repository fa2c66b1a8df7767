"""The answer to a step from a judged snapshot of a store, for the command, the sensor and agents."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from kafka_audit import audit
from kafka_audit.bounds.scratch import Scratch
from kafka_audit.cluster.given import given
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import OF_TOPICS, AskedTopic, ListAge
from kafka_audit.job.embedded_job import measure_of
from kafka_audit.may.answer import StepAnswer, answer_step
from kafka_audit.may.rules import Asked
from kafka_audit.may.step import TypedStep
from kafka_audit.model.errors import UsageError
from kafka_audit.model.report import Report
from kafka_audit.model.tables import RegisteredTopic, Row, ViewTopic
from kafka_audit.model.text import clean, did_you_mean
from kafka_audit.store import Store
from kafka_audit.what_if.steps.objections import NoTopicError

_OF_TOPICS = frozenset({"reassign", "delete-topic", "set"})


def answer_by(  # noqa: PLR0913 -- what a step may name
    store: Store,
    document: Report,
    step: TypedStep,
    *,
    bootstrap: Sequence[str] = (),
    oldest_client: str | None = None,
    node_ids: tuple[int, ...] = (),
) -> StepAnswer:
    """Return the answer by the snapshot of a report.

    Raises:
        UsageError: the step names a node or a topic that the cluster does not have.
        SnapshotError: the snapshot is damaged.
        EngineError: a query failed.
    """
    view = audit.judged_view(store, document.snapshot_id)
    if step.kind in _OF_TOPICS:
        view = with_topics(store, view, step.topics)
    newest = store.newest(view.snapshot.cluster)
    asked = Asked(
        step=step,
        view=view,
        document=document,
        bootstrap=tuple(bootstrap),
        oldest_client=oldest_client,
        node_ids=node_ids,
        newer=newest.snapshot_id if newest is not None and newest.snapshot_id > view.snapshot_id else None,
        now=datetime.now(UTC),
    )
    try:
        return answer_step(asked)
    except NoTopicError as error:
        lists = store.read(view.snapshot_id).large
        names = {row["topic"] for table in (RegisteredTopic, ViewTopic) if table in lists for row in lists[table].to_pylist()}
        msg = f"{error}{clean(did_you_mean(error.topic, names))}"
        raise UsageError(msg) from None


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
