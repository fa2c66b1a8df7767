"""What the Spark job does, in this process: DuckDB measures, then Python judges."""

from collections import defaultdict
from collections.abc import Collection
from functools import partial
from pathlib import Path

from kafka_audit.bounds import isolation
from kafka_audit.bounds.scratch import Scratch
from kafka_audit.embedded.measure import EmbeddedMeasure, StoredFile
from kafka_audit.job.judging import DISAGREEMENTS, judge_run
from kafka_audit.model.tables import LARGE
from kafka_audit.store import Store


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
        everything = scratch.path / "disagreements.parquet"
        judge_run(store, run_id, partial(measure_of, store, scratch.path, disagreements=everything), isolation.InTurn(count))
        if everything.exists():
            store.write_for_job(run_id, f"{DISAGREEMENTS}/part-00000.parquet", everything.read_bytes())


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
