"""What the job does with one run: reads small tables, lets an engine measure what differs, judges, writes the answer.

A snapshot that cannot be read or judged is left out, with its reason. The others are judged all the same.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from kafka_audit.bounds.isolation import Apart, Failures
from kafka_audit.checks import run as checks
from kafka_audit.cluster.changes import changes
from kafka_audit.cluster.given import ages_needed, given
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import ListAge
from kafka_audit.model.run import JobAnswer, JudgedSnapshot, SnapshotPair
from kafka_audit.model.tables import Row, Snapshot
from kafka_audit.store import Store

log = logging.getLogger(__name__)

DISAGREEMENTS = "disagreements"
"""The folder of a run with every partition that a view shows differently from the reference; findings list the first ten."""


class Measure(Protocol):
    """Computes difference tables. Keys are ids of judged snapshots."""

    def ages(self, given: Mapping[str, Sequence[Row]]) -> Mapping[str, Sequence[ListAge]]:
        """Return the age of each list that brokers of a KRaft cluster hold."""
        ...

    def differences(self, given: Mapping[str, Sequence[Row]]) -> Mapping[str, Differences]:
        """Return what differs."""
        ...


def judge_run(store: Store, run_id: str, measure: Callable[[Sequence[str]], Measure], apart: Apart) -> None:
    """Answer the request of a run: write what checks say of each snapshot, then the list of those that were judged.

    Args:
        store: where request and snapshots are, and where the answer goes.
        run_id: the run.
        measure: makes the measuring of these snapshots, judged and previous ones.
        apart: runs what judges each snapshot, and may end it.

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
    ids = sorted({snapshot.snapshot_id for pair in snapshots.values() for snapshot in pair if snapshot is not None})
    views = _views(snapshots, measure(ids), failures) if ids else {}
    judged = []
    for snapshot_id, judgement in apart({snapshot_id: partial(_judge, view) for snapshot_id, view in views.items()}):
        with failures.of(snapshot_id):
            store.write_judged(run_id, judgement())
            judged.append(snapshot_id)
    if not judged:
        failures.raise_first()
    store.write_answer(run_id, JobAnswer(judged=tuple(judged), failed=failures.reasons))


def _read(store: Store, pair: SnapshotPair) -> tuple[Snapshot, Snapshot | None]:
    previous = pair.previous_snapshot_id
    return store.read(pair.snapshot_id, large=False), None if previous is None else store.read(previous, large=False)


def _views(
    snapshots: Mapping[str, tuple[Snapshot, Snapshot | None]], measure: Measure, failures: Failures
) -> dict[str, ClusterView]:
    """Return a view for each snapshot that could be measured."""
    inputs: dict[str, Sequence[Row]] = {}
    undecided: dict[str, Sequence[Row]] = {}
    for snapshot_id, (snapshot, previous) in snapshots.items():
        with failures.of(snapshot_id):
            inputs[snapshot_id] = given(snapshot, previous, ())
            if ages_needed(snapshot, previous):
                undecided[snapshot_id] = inputs[snapshot_id]
    ages = measure.ages(undecided) if undecided else {}
    inputs |= {snapshot_id: given(*snapshots[snapshot_id], found) for snapshot_id, found in ages.items()}
    differences = measure.differences(inputs) if inputs else {}
    return {
        snapshot_id: ClusterView(*snapshots[snapshot_id], found.with_rows(ListAge, ages.get(snapshot_id, ())))
        for snapshot_id, found in differences.items()
    }


def _judge(view: ClusterView) -> JudgedSnapshot:
    return JudgedSnapshot(
        snapshot_id=view.snapshot_id,
        judgements=checks.judge(view),
        changes=changes(view),
        differences=view.differences.to_plain(),
    )
