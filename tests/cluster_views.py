"""Cluster views of snapshots that a test made, without Java: the embedded engine computes the difference tables."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from unittest import mock

import pyarrow as pa
from pyarrow import parquet

from kafka_audit.checks import run
from kafka_audit.cluster.given import ages_needed, given
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.arrow import arrow_table
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import ListAge
from kafka_audit.embedded.measure import EmbeddedMeasure, StoredFile
from kafka_audit.job import embedded_job
from kafka_audit.model.tables import LARGE, Row, Snapshot


def differences(stored: Iterable[Snapshot], given_rows: Mapping[str, Iterable[Row]]) -> dict[str, Differences]:
    """Return the differences of every snapshot that is given something; `stored` hold the previous ones too."""
    with tempfile.TemporaryDirectory() as folder:
        return measure(stored, Path(folder)).differences(given_rows)


def measure(stored: Iterable[Snapshot], folder: Path) -> EmbeddedMeasure:
    """Return the engine over snapshots, whose large tables are written to a folder as one file each."""
    snapshots, files = list(stored), {}
    for table in LARGE:
        rows = [(snapshot.snapshot_id, row) for snapshot in snapshots for row in snapshot.of(table)]
        if rows:
            path = folder / f"{table.table()}.parquet"
            parquet.write_table(arrow_table(table, rows).append_column("cluster_id", pa.nulls(len(rows), pa.string())), path)
            files[table.table()] = (StoredFile(path=path, holder="", snapshots=("",)),)
    return EmbeddedMeasure("a test", files)


def cluster_views(pairs: Mapping[str, tuple[Snapshot, Snapshot | None]]) -> dict[str, ClusterView]:
    """Return the view of each pair of a snapshot and its previous one, by the snapshot's id."""
    with tempfile.TemporaryDirectory() as folder:
        engine = measure([one for pair in pairs.values() for one in pair if one is not None], Path(folder))
        rows = {name: given(*pair, ()) for name, pair in pairs.items()}
        undecided = {name: reported for name, reported in rows.items() if ages_needed(*pairs[name])}
        ages = engine.ages(undecided) if undecided else {}
        rows |= {name: given(*pairs[name], found) for name, found in ages.items()}
        found = engine.differences(rows)
    return {name: ClusterView(*pair, found[name].with_rows(ListAge, ages.get(name, ()))) for name, pair in pairs.items()}


def cluster_view(snapshot: Snapshot, previous: Snapshot | None = None) -> ClusterView:
    """Return the view of one snapshot."""
    return cluster_views({snapshot.snapshot_id: (snapshot, previous)})[snapshot.snapshot_id]


def answer_with(store, run_id, judgements=()):
    """Answer the request of a run as if checks came to these judgements."""
    with mock.patch.object(run, "judge", lambda view: tuple(one for one in judgements if one.snapshot_id == view.snapshot_id)):
        embedded_job.answer(store, run_id)
