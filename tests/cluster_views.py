"""What the embedded engine says of snapshots that a test made, and the answer of a job with given judgements."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from unittest import mock

from kafka_audit.checks import run
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.job import embedded_job
from kafka_audit.model.tables import Row, Snapshot
from testbed.cluster_views import cluster_views, measure


def differences(stored: Iterable[Snapshot], given_rows: Mapping[str, Iterable[Row]]) -> dict[str, Differences]:
    """Return the differences of every snapshot that is given something; `stored` hold the previous ones too."""
    with tempfile.TemporaryDirectory() as folder:
        return measure(stored, Path(folder)).differences(given_rows)


def cluster_view(snapshot: Snapshot, previous: Snapshot | None = None) -> ClusterView:
    """Return the view of one snapshot."""
    return cluster_views({snapshot.snapshot_id: (snapshot, previous)})[snapshot.snapshot_id]


def answer_with(store, run_id, judgements=()):
    """Answer the request of a run as if checks came to these judgements."""
    with mock.patch.object(
        run, "judge", lambda view: tuple(judgement for judgement in judgements if judgement.snapshot_id == view.snapshot_id)
    ):
        embedded_job.answer(store, run_id)
