"""The second step of an audit: pair snapshots with what they are compared with, and write the request for the Spark job."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from kafka_audit.bounds.isolation import Failed, Failures
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import SnapshotError, UsageError
from kafka_audit.model.run import Request, SnapshotPair
from kafka_audit.model.tables import Snapshot
from kafka_audit.model.text import clean
from kafka_audit.store import Store
from kafka_audit.store.manifest import Manifest


def prepare_request(  # noqa: PLR0913 -- two of them are the DAG's
    store: Store,
    snapshot_ids: Iterable[str],
    baselines: Mapping[str, str | None] | None,
    run_id: str,
    *,
    clusters: Mapping[str, Cluster] | None = None,
    show_all: bool = False,
    damaged: Callable[[SnapshotError], None] | None = None,
    failed: Failed | None = None,
) -> Request:
    """Pair snapshots with what they are compared with, write the request of run `run_id`.

    Args:
        store: where the snapshots are.
        snapshot_ids: the snapshots to judge.
        baselines: by snapshot id, the id to compare with (None: nothing); ids that are not in it take the previous snapshot.
        run_id: the run's name, unique.
        clusters: the cluster file, of which the mutes come. A cluster that is not in it has none.
        show_all: the reports list PASS findings too.
        damaged: gets each damaged previous snapshot; that cluster is compared with the one before, or with nothing, its
            report says so, and the others go on. Without it such a snapshot raises, as a baseline that was asked for always does.
        failed: gets each snapshot that cannot be read; it is left out and the others go on, unless none is left. Without
            it the error is raised, as one of the store always is.

    Raises:
        SnapshotError: a snapshot, or the one to compare it with, is not published or damaged.
        UsageError: a baseline is of another cluster.
    """
    pairs: list[SnapshotPair] = []
    failures = Failures(failed, isolate=failed is not None)
    for snapshot_id in snapshot_ids:
        with failures.of(snapshot_id):
            store.verify_tables(snapshot_id)
            manifest = store.manifest(snapshot_id)
            if baselines is not None and snapshot_id in baselines:
                pair = _pair(store, manifest, _baseline(store, manifest, baselines[snapshot_id]))
            else:
                pair = _latest(store, manifest, damaged)
            described = (clusters or {}).get(manifest.cluster)
            pairs.append(replace(pair, mutes=described.mute if described else ()))
    if not pairs:
        failures.raise_first()
    asked = Request(run_id=run_id, pairs=tuple(pairs), failed=failures.reasons, show_all=show_all)
    store.write_request(asked)
    return asked


def _pair(store: Store, snapshot: Manifest, previous: str | None) -> SnapshotPair:
    if previous is not None:
        store.verify(previous)  # the user must repair damage; Spark would report an internal error
    return SnapshotPair(snapshot_id=snapshot.snapshot_id, previous_snapshot_id=previous)


def _latest(store: Store, snapshot: Manifest, damaged: Callable[[SnapshotError], None] | None) -> SnapshotPair:
    if damaged is None:
        return _pair(store, snapshot, store.previous(snapshot))
    reported: list[str] = []

    def pass_over(error: SnapshotError) -> None:
        damaged(error)
        reported.append(str(error).replace(f"{store.root}/", ""))  # readers of a report need not know where the store is

    previous = store.previous(snapshot, damaged=pass_over)
    return SnapshotPair(snapshot_id=snapshot.snapshot_id, previous_snapshot_id=previous, passed_over=tuple(reported))


def _baseline(store: Store, snapshot: Manifest, baseline: str | None) -> str | None:
    if baseline is None:
        return None
    other = store.manifest(baseline)
    if other.cluster_id == snapshot.cluster_id:
        return baseline
    if snapshot.cluster_id.startswith(Snapshot.UNKNOWN_ID) and other.cluster == snapshot.cluster:
        return None  # the cluster id is unknown today: an outage to report, not a wrong argument
    msg = (
        f"snapshot {baseline} is of cluster id {clean(other.cluster_id)} ({other.cluster}),"
        f" {snapshot.snapshot_id} of {clean(snapshot.cluster_id)} ({snapshot.cluster}): they cannot be compared"
    )
    raise UsageError(msg)
