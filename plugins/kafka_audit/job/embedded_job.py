"""What the Spark job does, without Spark: DuckDB measures, then Python judges, each snapshot apart in a child process."""

from collections import defaultdict
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import NoReturn

from kafka_audit.bounds import isolation
from kafka_audit.bounds.scratch import Scratch
from kafka_audit.cluster.view import ClusterView
from kafka_audit.embedded.measure import EmbeddedMeasure, StoredFile
from kafka_audit.job.judging import DISAGREEMENTS, Pairs, Views, ids_of, judge_run, measured_views
from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.tables import LARGE
from kafka_audit.store import Store

_OF_ALL_PARTITIONS = "-disagreements.parquet"


def answer(store: Store, run_id: str) -> None:
    """Answer the request of a run.

    Args:
        store: where request and snapshots are, and where the answer goes. Files of one that is a URL are copied to this machine.
        run_id: whose `request.json` to read.

    Raises:
        EngineError: there is no request, or a query failed.
        SnapshotError: a snapshot is damaged.
        StoreError: the store could not be read or written.
    """
    count = len(store.read_request(run_id).pairs)
    with Scratch() as scratch:

        def measured(pairs: Pairs) -> Views:
            return {name: _measured(store, scratch.path, name, {name: pair}) for name, pair in pairs.items()}

        judge_run(store, run_id, measured, isolation.InTurn(count))
        for number, path in enumerate(sorted(scratch.path.glob(f"*{_OF_ALL_PARTITIONS}"))):
            store.write_for_job(run_id, f"{DISAGREEMENTS}/part-{number:05}.parquet", path.read_bytes())


def _measured(store: Store, folder: Path, snapshot_id: str, pairs: Pairs) -> Callable[[], ClusterView]:
    """Return what measures a snapshot; the store is read here, for its clients do not work in a child process."""
    everything = folder / f"{snapshot_id}{_OF_ALL_PARTITIONS}"
    try:
        engine = measure_of(store, folder, ids_of(pairs), everything)
    except SnapshotError as error:
        return partial(_raise, error)
    return lambda: measured_views(pairs, lambda _: engine)[snapshot_id]


def _raise(error: Exception) -> NoReturn:
    raise error


def measure_of(store: Store, folder: Path, ids: Collection[str], disagreements: Path | None = None) -> EmbeddedMeasure:
    """Return the measuring of some snapshots.

    Args:
        store: where they are.
        folder: for files of a store that is a URL.
        ids: the snapshots.
        disagreements: file for every partition that a view shows differently from the reference.
    """
    manifests = {snapshot_id: store.manifest(snapshot_id) for snapshot_id in ids}
    stored: dict[str, list[StoredFile]] = {}
    for name in (table.table() for table in LARGE):
        readers: dict[Path, list[str]] = defaultdict(list)
        holders: dict[Path, str] = {}
        for snapshot_id, manifest in manifests.items():
            if name in manifest.tables:
                path = store.local_table(manifest, name, folder)
                readers[path].append(snapshot_id)
                holders[path] = manifest.holder(name)
        stored[name] = [
            StoredFile(path=path, holder=holders[path], snapshots=tuple(sharing)) for path, sharing in readers.items()
        ]
    return EmbeddedMeasure(store.root, stored, disagreements)
