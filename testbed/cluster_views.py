"""Cluster views of snapshots in memory, without Java: the embedded engine computes the difference tables."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.arrow import arrow_table
from kafka_audit.embedded.measure import EmbeddedMeasure, StoredFile
from kafka_audit.job.judging import measured_views
from kafka_audit.model.tables import LARGE, Snapshot


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
        stored = [snapshot for pair in pairs.values() for snapshot in pair if snapshot is not None]
        return measured_views(pairs, lambda _ids: measure(stored, Path(folder)))
