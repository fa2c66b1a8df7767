"""The last step of an audit: publish the reports that the job made."""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from kafka_audit.bounds.isolation import Failed, Failures
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import EngineError, SnapshotError, StoreError
from kafka_audit.model.report import Report
from kafka_audit.report import digest
from kafka_audit.store import Store
from kafka_audit.store.history import DIGEST

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
