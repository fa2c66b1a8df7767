"""The last step of an audit: turn what the Spark job judged into reports."""

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from kafka_audit.bounds.isolation import Apart, Failed, Failures, here
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.incidents import causes, findings
from kafka_audit.model.cluster import Cluster, Mute
from kafka_audit.model.errors import EngineError, SnapshotError, StoreError
from kafka_audit.model.run import JudgedSnapshot, SnapshotPair
from kafka_audit.report import digest
from kafka_audit.report import document as reports
from kafka_audit.store import Store
from kafka_audit.store.history import DIGEST
from kafka_audit.store.manifest import cluster_of

log = logging.getLogger(__name__)

_MOST_UNJUDGED = 50  # audits in a row that were killed before their report


def write_reports(  # noqa: PLR0913 -- two of them are the DAG's
    store: Store,
    run_id: str,
    clusters: Mapping[str, Cluster],
    *,
    show_all: bool = False,
    newest: bool = True,
    failed: Failed | None = None,
    apart: Apart = here,
) -> list[dict[str, Any]]:
    """Turn the Spark job's answer to a run into reports, write them to the store, return them in the order of the request.

    Args:
        store: where request, answer and snapshots are.
        run_id: the run.
        clusters: the cluster file; mutes come from it. A cluster that is not in it has none.
        show_all: list PASS findings too.
        newest: make these the current reports of their clusters and of the store, and let the store forget what is beyond
            `keep` of the cluster file. If not, history is not rewritten either: a snapshot that has a report keeps it.
        failed: gets each snapshot on which no report can be made, those that an earlier step left out among them; the others go
            on, unless none is left. Without it the error is raised, as one of the store always is.
        apart: runs what makes each report of findings, and may end it.

    Raises:
        EngineError: there is no complete answer.
        SnapshotError: a snapshot was damaged since.
    """
    asked, answer = store.read_request(run_id), store.read_answer(run_id)
    documents: dict[str, dict[str, Any]] = {}
    failures = Failures(failed, isolate=failed is not None)
    failures.add(asked.failed)
    if failed is None and answer.failed:
        snapshot_id, why = answer.failed[0]
        msg = f"{snapshot_id} cannot be judged: {why}"
        raise EngineError(msg)
    failures.add(answer.failed)
    # Older first: a snapshot may be compared with one that is judged in the same run, and whose report is written before.
    pairs = sorted((pair for pair in asked.pairs if pair.snapshot_id in answer.judged), key=lambda pair: pair.snapshot_id)
    for batch in _batches(pairs):
        judged: dict[str, JudgedSnapshot] = {}
        makers: dict[str, Callable[[], dict[str, Any]]] = {}
        for pair in batch:
            with failures.of(pair.snapshot_id):
                judged[pair.snapshot_id] = store.read_judged(run_id, pair.snapshot_id)
                makers[pair.snapshot_id] = _maker(store, pair, judged[pair.snapshot_id], clusters, show_all=show_all)
        for snapshot_id, document_of in apart(makers):
            with failures.of(snapshot_id):
                document = document_of()
                if newest or store.read_report(snapshot_id) is None:
                    store.write_differences(snapshot_id, judged[snapshot_id].differences)
                    store.write_report(snapshot_id, document, newest=newest)
                    store.write_rendering(snapshot_id, DIGEST, digest.digest_text(document), newest=False)
                documents[snapshot_id] = document
    if not documents:
        failures.raise_first()
    audited = sorted({document["cluster"] for document in documents.values()}) if newest else []
    _tidy(store, run_id, [clusters[name] for name in audited if name in clusters])
    return [documents[pair.snapshot_id] for pair in asked.pairs if pair.snapshot_id in documents]


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


def _maker(
    store: Store, pair: SnapshotPair, judged: JudgedSnapshot, clusters: Mapping[str, Cluster], *, show_all: bool
) -> Callable[[], dict[str, Any]]:
    """Read what a report rests on; return a pure function that makes it."""
    previous = None if pair.previous_snapshot_id is None else store.read(pair.previous_snapshot_id, large=False)
    previous_report = None if pair.previous_snapshot_id is None else _last_report(store, pair.previous_snapshot_id)
    view = ClusterView(store.read(pair.snapshot_id, large=False), previous, _differences(judged.differences, pair.snapshot_id))
    cluster = clusters.get(view.snapshot.cluster)
    return partial(_document, view, previous_report, pair, judged, cluster.mute if cluster else (), show_all=show_all)


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


def _document(  # noqa: PLR0913 -- what one report rests on
    view: ClusterView,
    previous_report: Mapping[str, Any] | None,
    pair: SnapshotPair,
    judged: JudgedSnapshot,
    mutes: Sequence[Mute],
    *,
    show_all: bool,
) -> dict[str, Any]:
    """Return the report on one snapshot. Pure."""
    found = findings.findings_with_lifecycle(
        view,
        judged.judgements,
        mutes=mutes,
        previous_report=previous_report,
        today=datetime.now(UTC).date(),
    )
    return reports.build_document(
        view,
        pair.previous_snapshot_id,
        found,
        causes.incidents(view, found, judged.changes),
        judged.changes,
        previous_report,
        show_all=show_all,
        passed_over=pair.passed_over,
    )


def _last_report(store: Store, snapshot_id: str) -> dict[str, Any] | None:
    """Return the report on a snapshot, or on the newest before it that was judged.

    An audit that is killed after its snapshot leaves an unjudged snapshot. Earlier failures do not become new for that reason.
    """
    report = store.read_report(snapshot_id)
    with contextlib.suppress(SnapshotError):  # a damaged past is no reason to judge nothing now
        older: str | None = snapshot_id
        for _ in range(_MOST_UNJUDGED):
            older = store.previous(store.manifest(older)) if report is None and older is not None else None
            report = report if older is None else store.read_report(older)
    return report


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
