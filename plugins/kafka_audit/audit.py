"""The steps of an audit, the same for the console and the DAG.

They publish a snapshot, prepare the request that the Spark job answers, and write the reports.

Each step reads from the store what the step before wrote there, so that they may run in different processes and be retried.
"""

import logging
import os
import secrets as tokens
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any

from kafka_audit.bounds.isolation import Failed, Failures
from kafka_audit.bounds.memory import release_memory
from kafka_audit.cluster.view import ClusterView
from kafka_audit.collect import snapshot as collector
from kafka_audit.collect.queue_vantages import QueueAnswer
from kafka_audit.differences.found import Differences
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import EngineError, SnapshotError, StoreError, UsageError
from kafka_audit.model.report import Report
from kafka_audit.model.run import Request, SnapshotPair
from kafka_audit.model.tables import Snapshot
from kafka_audit.model.text import clean
from kafka_audit.report import digest
from kafka_audit.store import Store
from kafka_audit.store.history import DIGEST
from kafka_audit.store.manifest import Manifest


def prepare_request(  # noqa: PLR0913 -- two of them are the DAG's
    store: Store,
    snapshot_ids: Iterable[str],
    baselines: Mapping[str, str | None] | None,
    run_id: str,
    *,
    clusters: Mapping[str, Cluster] | None = None,
    show_all: bool = False,
    counts: bool = True,
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
        counts: whether incidents count this audit.
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
    asked = Request(run_id=run_id, pairs=tuple(pairs), failed=failures.reasons, show_all=show_all, counts=counts)
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


def stamp(now: float) -> str:
    """Return a time (seconds since the epoch) as ids of snapshots and runs start with: 20260131T235959Z."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")


def publish_snapshot(  # noqa: PLR0913 -- what it is taken of, and what is known of it
    cluster: Cluster,
    store: Store,
    say: Callable[[str], None],
    *,
    secrets: Mapping[str, str] = os.environ,
    answers: Mapping[str, QueueAnswer] = MappingProxyType({}),
    first: bool = False,
) -> str:
    """Take a snapshot of a cluster, publish it, return its id. What does not answer becomes rows, never an error.

    Args:
        cluster: the cluster to read.
        store: where the snapshot goes.
        say: gets a line for each step.
        secrets: passwords by the names that `password_env` gives.
        answers: what workers of Airflow queues saw, by vantage.
        first: nothing was ever read of this cluster.

    Raises:
        UsageError: the cluster file names something that cannot be audited, e.g. a chroot without `/brokers/ids`.
    """
    snapshot_id = f"{stamp(time.time())}-{cluster.name}-{tokens.token_hex(2)}"
    earlier = store.brokers_of_newest(cluster.name) if cluster.logs is not None and not first else ()
    store.write(
        collector.take_snapshot(
            cluster, snapshot_id=snapshot_id, say=say, secrets=secrets, answers=answers, first=first, earlier=earlier
        )
    )
    release_memory()
    return snapshot_id


log = logging.getLogger(__name__)


def write_reports(
    store: Store, run_id: str, clusters: Mapping[str, Cluster], *, newest: bool = True, failed: Failed | None = None
) -> list[Report]:
    """Publish the reports of the job's answer to a run, return them in the order of the request.

    Args:
        store: where request, answer and snapshots are.
        run_id: the run.
        clusters: the cluster file: it says how many snapshots are kept. Nothing is forgotten of a cluster that is not in it.
        newest: make these the current reports of their clusters and of the store, and let the store forget what is beyond
            `keep` of the cluster file. If not, history is not rewritten either: a snapshot that has a report keeps it.
        failed: gets each snapshot on which there is no report, those that an earlier step left out among them; the others go
            on, unless none is left. Without it the error is raised, as one of the store always is.

    Raises:
        EngineError: there is no complete answer.
    """
    asked, answer = store.read_request(run_id), store.read_answer(run_id)
    documents: dict[str, Report] = {}
    failures = Failures(failed, isolate=failed is not None)
    failures.add(asked.failed)
    if failed is None and answer.failed:
        snapshot_id, why = answer.failed[0]
        msg = f"{snapshot_id} cannot be judged: {why}"
        raise EngineError(msg)
    failures.add(answer.failed)
    for snapshot_id in answer.judged:
        with failures.of(snapshot_id):
            judged = store.read_judged(run_id, snapshot_id)
            document = judged.document
            if newest or store.read_report(snapshot_id) is None:
                store.write_differences(snapshot_id, judged.differences)
                store.write_report(snapshot_id, document, newest=newest)
                store.write_rendering(snapshot_id, DIGEST, digest.digest_text(document), newest=False)
            documents[snapshot_id] = document
    if not documents:
        failures.raise_first()
    audited = sorted({document.cluster for document in documents.values()}) if newest else []
    _tidy(store, run_id, [clusters[name] for name in audited if name in clusters])
    return [documents[pair.snapshot_id] for pair in asked.pairs if pair.snapshot_id in documents]


def judged_view(store: Store, snapshot_id: str) -> ClusterView:
    """Return the view on a snapshot that was judged, without its previous one.

    Raises:
        SnapshotError: it is not published, damaged, or was not judged.
    """
    return ClusterView(store.read(snapshot_id, large=False), None, _differences(store.read_differences(snapshot_id), snapshot_id))


def _differences(plain: Mapping[str, Any], snapshot_id: str) -> Differences:
    try:
        return Differences.from_plain(plain)
    except (KeyError, TypeError) as error:
        msg = f"{snapshot_id}: its difference tables are of another version ({error}): judge the snapshot again"
        raise SnapshotError(msg) from error


def _tidy(store: Store, run_id: str, clusters: Iterable[Cluster]) -> None:
    """Let the store shrink to what the cluster file keeps.

    An audit is not lost for a file that cannot be deleted, and such a file of one cluster or run does not end the rest.
    """
    steps: list[Callable[[], None]] = [partial(store.conclude_run, run_id), store.remove_leftovers]
    steps += [partial(store.prune, cluster.name, cluster.keep) for cluster in clusters]
    for step in steps:
        try:
            step()
        except StoreError as error:
            log.warning("old snapshots stay: %s", error)
