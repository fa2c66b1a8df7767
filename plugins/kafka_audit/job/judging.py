"""What the job does with one run: reads small tables, lets an engine measure what differs, judges, writes the finished reports.

A snapshot that cannot be read or judged is left out, with its reason. The others are still judged.
"""

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from msgspec import UNSET, structs

from kafka_audit.bounds.isolation import Apart, Failures
from kafka_audit.checks import run as checks
from kafka_audit.cluster.changes import changes
from kafka_audit.cluster.given import ages_needed, given
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES, ListAge
from kafka_audit.incidents import causes, findings
from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.report import Report
from kafka_audit.model.run import JobAnswer, JudgedSnapshot, Request, SnapshotPair
from kafka_audit.model.tables import Row, Snapshot
from kafka_audit.model.text import clean
from kafka_audit.report import document as reports
from kafka_audit.store import Store
from kafka_audit.store.manifest import cluster_of
from kafka_audit.what_if.unreached import unreached_rows

log = logging.getLogger(__name__)

DISAGREEMENTS = "disagreements"
"""The folder of a run with every partition that a view shows differently from the reference; findings list the first ten."""
_LONGEST = 1000
_MOST_UNJUDGED = 50  # audits in a row that were killed before their report


class Measure(Protocol):
    """Computes difference tables. Keys are ids of judged snapshots."""

    def ages(self, given: Mapping[str, Sequence[Row]]) -> Mapping[str, Sequence[ListAge]]:
        """Return the age of each list that brokers of a KRaft cluster hold."""
        ...

    def differences(
        self, given: Mapping[str, Sequence[Row]], tables: Sequence[type[Row]] = DIFFERENCES
    ) -> Mapping[str, Differences]:
        """Return what differs."""
        ...


Pairs = Mapping[str, tuple[Snapshot, Snapshot | None]]
"""Snapshots with their previous ones, by the id of the first."""

Views = Mapping[str, Callable[[], ClusterView]]
"""What returns the view of a snapshot, or raises why it cannot be measured, by its id."""


def judge_run(store: Store, run_id: str, measured: Callable[[Pairs], Views], apart: Apart) -> None:
    """Answer the request of a run: write the report on each snapshot, then the list of those that were judged.

    Args:
        store: where request and snapshots are, and where the answer goes.
        run_id: the run.
        measured: returns what measures each snapshot; it is called where the snapshot is judged.
        apart: runs what measures and judges each snapshot, and may end it.

    Raises:
        Exception: what the first snapshot failed for, where none could be judged.
        EngineError: there is no request, or the engine failed.
        StoreError: the store could not be read or written.
    """
    request = store.read_request(run_id)
    failures = Failures()
    snapshots: dict[str, tuple[Snapshot, Snapshot | None]] = {}
    for pair in request.pairs:
        with failures.of(pair.snapshot_id):
            snapshots[pair.snapshot_id] = _read(store, pair)
    views = measured(snapshots) if snapshots else {}
    documents: dict[str, Report] = {}
    # Older first: a snapshot may be compared with one of the same run, whose report is made before.
    pairs = sorted((pair for pair in request.pairs if pair.snapshot_id in views), key=lambda pair: pair.snapshot_id)
    for batch in _batches(pairs):
        judges: dict[str, Callable[[], JudgedSnapshot]] = {}
        for pair in batch:
            with failures.of(pair.snapshot_id):
                report = _last_report(store, pair.previous_snapshot_id, documents)
                judges[pair.snapshot_id] = partial(_judge, views[pair.snapshot_id], pair, report, request)
        for snapshot_id, judgement in apart(judges):
            with failures.of(snapshot_id):
                judged = judgement()
                store.write_judged(run_id, judged)
                documents[snapshot_id] = judged.document
    if not documents:
        failures.raise_first()
    store.write_answer(run_id, JobAnswer(judged=tuple(documents), failed=failures.reasons))


def _batches(pairs: Iterable[SnapshotPair]) -> Iterator[list[SnapshotPair]]:
    """Yield pairs in their order, those together that are of different clusters."""
    batch: dict[str | None, SnapshotPair] = {}
    for pair in pairs:
        cluster = cluster_of(pair.snapshot_id)
        if cluster in batch:
            yield [*batch.values()]
            batch = {}
        batch[cluster] = pair
    yield [*batch.values()]


def _read(store: Store, pair: SnapshotPair) -> tuple[Snapshot, Snapshot | None]:
    previous = pair.previous_snapshot_id
    return store.read(pair.snapshot_id, large=False), None if previous is None else store.read(previous, large=False)


def ids_of(snapshots: Pairs) -> list[str]:
    """Return the ids of all snapshots, previous ones included."""
    return sorted({snapshot.snapshot_id for pair in snapshots.values() for snapshot in pair if snapshot is not None})


def measured_views(snapshots: Pairs, measure: Callable[[Sequence[str]], Measure]) -> dict[str, ClusterView]:
    """Return the view of each snapshot, all measured together; raises EngineError, and what one of them makes it raise.

    Args:
        snapshots: what to measure.
        measure: makes the measuring of the snapshots of these ids, judged and previous ones.
    """
    engine = measure(ids_of(snapshots))
    inputs: dict[str, Sequence[Row]] = {name: given(*pair, ()) for name, pair in snapshots.items()}
    undecided = {name: inputs[name] for name, pair in snapshots.items() if ages_needed(*pair)}
    ages = engine.ages(undecided) if undecided else {}
    inputs |= {snapshot_id: given(*snapshots[snapshot_id], found) for snapshot_id, found in ages.items()}
    whole = {name: (*rows, *unreached_rows(snapshots[name][0])) for name, rows in inputs.items()}
    differences = engine.differences(whole)
    return {
        snapshot_id: ClusterView(*snapshots[snapshot_id], found.with_rows(ListAge, ages.get(snapshot_id, ())))
        for snapshot_id, found in differences.items()
    }


def _last_report(store: Store, snapshot_id: str | None, made: Mapping[str, Report]) -> Report | None:
    """Return the report on a snapshot, or on the newest before it that was judged; `made` are those of this run.

    An audit that is killed after its snapshot leaves an unjudged snapshot. Earlier failures do not become new for that reason.
    """
    report = None if snapshot_id is None else store.shown_report(snapshot_id) or made.get(snapshot_id)
    with contextlib.suppress(SnapshotError):  # a damaged past is no reason to judge nothing now
        for _ in range(_MOST_UNJUDGED):
            if snapshot_id is None or report is not None:
                break
            snapshot_id = store.previous(store.manifest(snapshot_id))
            report = None if snapshot_id is None else store.shown_report(snapshot_id) or made.get(snapshot_id)
    return _without_code(report) if report is not None and report.origin else report


def _without_code(report: Report) -> Report:
    """Return a report of another party whose sentences, which the next report repeats, have no commands between backticks."""
    return structs.replace(
        report,
        findings=tuple(
            structs.replace(
                finding,
                message=clean(finding.message, _LONGEST),
                last_known=clean(finding.last_known, _LONGEST) if finding.last_known else UNSET,
            )
            for finding in report.findings
        ),
        incidents=tuple(structs.replace(one, headline=clean(one.headline, _LONGEST)) for one in report.incidents),
        incomparable_incidents=tuple(
            structs.replace(one, headline=clean(one.headline, _LONGEST)) for one in report.incomparable_incidents
        ),
    )


def _judge(
    measured: Callable[[], ClusterView], pair: SnapshotPair, previous_report: Report | None, request: Request
) -> JudgedSnapshot:
    """Return the report on one snapshot. Pure but for what measures it, and the date, from which mutes end."""
    view = measured()
    view.reported_progress = () if previous_report is None else previous_report.progress
    changed = changes(view)
    found = findings.findings_with_lifecycle(
        view,
        checks.judge(view),
        mutes=pair.mutes,
        previous_report=previous_report,
        today=datetime.now(UTC).date(),
    )
    document = reports.build_report(
        view,
        pair.previous_snapshot_id,
        found,
        causes.incidents(view, found, changed),
        changed,
        previous_report,
        show_all=request.show_all,
        counts=request.counts,
        passed_over=pair.passed_over,
    )
    return JudgedSnapshot(snapshot_id=view.snapshot_id, document=document, differences=view.differences.to_plain())
