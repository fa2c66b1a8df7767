"""The steps of an audit, the same for the console and the DAG: collect, request, (the Spark job answers), conclude, gate.

Each step reads from the store what the step before wrote there, so that they may run in different processes and be retried.
"""

import contextlib
import logging
import secrets as tokens
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from kafka_audit.cluster.view import ClusterView
from kafka_audit.collect import snapshot as collector
from kafka_audit.collect.queue_vantages import Answer
from kafka_audit.differences.found import Differences
from kafka_audit.engine import causes, findings
from kafka_audit.isolation import Apart, Failed, Failures, here
from kafka_audit.model.cluster import Cluster, Mute
from kafka_audit.model.errors import EngineError, SnapshotError, StoreError, UsageError
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.run import Judged, Pair, Request
from kafka_audit.model.tables import Snapshot
from kafka_audit.model.text import clean, counted
from kafka_audit.report import digest
from kafka_audit.report import document as reports
from kafka_audit.store import Store
from kafka_audit.store.history import DIGEST
from kafka_audit.store.manifest import Manifest

log = logging.getLogger(__name__)

CLEAN, FAILED, UNCOVERED = 0, 3, 4
"""Exit codes of the gate (contract)."""

_MOST_UNJUDGED = 50  # audits in a row that were killed before their report

Take = Callable[..., Snapshot]


def stamp(now: float) -> str:
    """Return a time (seconds since the epoch) as ids of snapshots and runs start with: 20260131T235959Z."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")


def collect(  # noqa: PLR0913 -- one of them replaces a part only in tests
    cluster: Cluster,
    store: Store,
    say: Callable[[str], None],
    *,
    secrets: Mapping[str, str] | None = None,
    answers: Mapping[str, Answer] | None = None,
    take: Take = collector.take,
) -> str:
    """Take a snapshot of a cluster, publish it, return its id. What does not answer becomes rows, never an error.

    Args:
        cluster: whom to ask.
        store: where the snapshot goes.
        say: gets a line for each step.
        secrets: passwords by the names that `password_env` gives; default: the environment.
        answers: what workers of Airflow queues saw, by vantage.
        take: the collector.

    Raises:
        UsageError: the cluster file names something that cannot be audited, e.g. a chroot without `/brokers/ids`.
    """
    snapshot_id = f"{stamp(time.time())}-{cluster.name}-{tokens.token_hex(2)}"
    given: dict[str, Any] = {} if secrets is None else {"secrets": secrets}
    given |= {"answers": answers} if answers else {}
    store.write(take(cluster, snapshot_id=snapshot_id, say=say, **given))
    return snapshot_id


def request(  # noqa: PLR0913 -- two of them are the DAG's
    store: Store,
    snapshot_ids: Iterable[str],
    baselines: Mapping[str, str | None] | None,
    run_id: str,
    *,
    damaged: Callable[[SnapshotError], None] | None = None,
    failed: Failed | None = None,
) -> Request:
    """Pair snapshots with what they are compared with, write the request of run `run_id`.

    Args:
        store: where the snapshots are.
        snapshot_ids: the snapshots to judge.
        baselines: by snapshot id, the id to compare with (None: nothing); ids that are not in it take the previous snapshot.
        run_id: the run's name, unique.
        damaged: gets each damaged previous snapshot; that cluster is compared with the one before, or with nothing, its
            report says so, and the others go on. Without it such a snapshot raises, as a baseline that was asked for always does.
        failed: gets each snapshot that cannot be read; it is left out and the others go on, unless none is left. Without
            it the error is raised, as one of the store always is.

    Raises:
        SnapshotError: a snapshot, or the one to compare it with, is not published or damaged.
        UsageError: a baseline is of another cluster.
    """
    pairs: list[Pair] = []
    failures = Failures(failed, isolate=failed is not None)
    for snapshot_id in snapshot_ids:
        with failures.of(snapshot_id):
            store.verify_tables(snapshot_id)
            manifest = store.manifest(snapshot_id)
            if baselines is not None and snapshot_id in baselines:
                pair = _pair(store, manifest, _baseline(store, manifest, baselines[snapshot_id]))
            else:
                pair = _latest(store, manifest, damaged)
            pairs.append(pair)
    if not pairs:
        failures.raise_first()
    asked = Request(run_id=run_id, pairs=tuple(pairs), failed=failures.reasons)
    store.write_request(asked)
    return asked


def _pair(store: Store, snapshot: Manifest, previous: str | None) -> Pair:
    if previous is not None:
        store.verify(previous)  # damage is the user's to mend; Spark would call it an error of its own
    return Pair(snapshot_id=snapshot.snapshot_id, previous_snapshot_id=previous)


def _latest(store: Store, snapshot: Manifest, damaged: Callable[[SnapshotError], None] | None) -> Pair:
    if damaged is None:
        return _pair(store, snapshot, store.previous(snapshot))
    told: list[str] = []

    def pass_over(error: SnapshotError) -> None:
        damaged(error)
        told.append(str(error).replace(f"{store.root}/", ""))  # readers of a report need not know where the store is

    previous = store.previous(snapshot, damaged=pass_over)
    return Pair(snapshot_id=snapshot.snapshot_id, previous_snapshot_id=previous, passed_over=tuple(told))


def _baseline(store: Store, snapshot: Manifest, baseline: str | None) -> str | None:
    if baseline is None:
        return None
    other = store.manifest(baseline)
    if other.cluster_id == snapshot.cluster_id:
        return baseline
    if snapshot.cluster_id.startswith(Snapshot.UNKNOWN_ID) and other.cluster == snapshot.cluster:
        return None  # nobody told the cluster's id today: an outage to report, not a wrong argument
    msg = (
        f"snapshot {baseline} is of cluster id {clean(other.cluster_id)} ({other.cluster}),"
        f" {snapshot.snapshot_id} of {clean(snapshot.cluster_id)} ({snapshot.cluster}): they cannot be compared"
    )
    raise UsageError(msg)


def conclude(  # noqa: PLR0913 -- two of them are the DAG's
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
        apart: runs what makes one report of findings, and may end it.

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
    # Older first: a snapshot may be compared with one that is judged in the same run.
    for pair in sorted(asked.pairs, key=lambda pair: pair.snapshot_id):
        if pair.snapshot_id not in answer.judged:
            continue
        with failures.of(pair.snapshot_id):
            judged = store.read_judged(run_id, pair.snapshot_id)
            previous = None if pair.previous_snapshot_id is None else store.read(pair.previous_snapshot_id, large=False)
            previous_report = None if pair.previous_snapshot_id is None else _last_report(store, pair.previous_snapshot_id)
            view = ClusterView(
                store.read(pair.snapshot_id, large=False), previous, _differences(judged.differences, pair.snapshot_id)
            )
            cluster = clusters.get(view.snapshot.cluster)
            mutes = cluster.mute if cluster else ()
            document = apart(partial(_document, view, previous_report, pair, judged, mutes, show_all=show_all))
            if newest or store.read_report(pair.snapshot_id) is None:
                store.write_differences(pair.snapshot_id, judged.differences)
                store.write_report(pair.snapshot_id, document, newest=newest)
                store.write_rendering(pair.snapshot_id, DIGEST, digest.text(document), newest=False)
            documents[pair.snapshot_id] = document
    if not documents:
        failures.raise_first()
    audited = sorted({document["cluster"] for document in documents.values()}) if newest else []
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


def _document(  # noqa: PLR0913 -- what one report rests on
    view: ClusterView,
    previous_report: Mapping[str, Any] | None,
    pair: Pair,
    judged: Judged,
    mutes: Sequence[Mute],
    *,
    show_all: bool,
) -> dict[str, Any]:
    """Return the report on one snapshot. Pure."""
    found = findings.conclude(
        view,
        judged.judgements,
        mutes=mutes,
        previous_report=previous_report,
        today=datetime.now(UTC).date(),
    )
    return reports.build(
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

    An audit that is killed after its snapshot leaves one that nobody judged. What was wrong before is not new for that.
    """
    report = store.read_report(snapshot_id)
    with contextlib.suppress(SnapshotError):  # a damaged past is no reason to judge nothing now
        older: str | None = snapshot_id
        for _ in range(_MOST_UNJUDGED):
            older = store.previous(store.manifest(older)) if report is None and older is not None else None
            report = report if older is None else store.read_report(older)
    return report


def _tidy(store: Store, run_id: str, clusters: Iterable[Cluster]) -> None:
    """Let the store shrink to what the cluster file keeps; an audit is not lost for a file that cannot be deleted."""
    try:
        store.conclude_run(run_id)
        store.remove_leftovers()
        for cluster in clusters:
            store.prune(cluster.name, cluster.keep.snapshots)
    except StoreError as error:
        log.warning("old snapshots stay: %s", error)


def gate(document: Mapping[str, Any], fail_on: str, min_coverage: float) -> tuple[int, str]:
    """Decide whether a report passes.

    Args:
        document: a `findings.json`.
        fail_on: name of the severity from which an unmuted FAIL fails, in any case.
        min_coverage: share of the asked reads, 0 to 1, that must have been answered.

    Returns:
        The exit code (0 clean, 3 failed, 4 nothing failed but too little was answered), and why in one sentence.

    Raises:
        UsageError: there is no such severity.
    """
    least = severity(fail_on)
    failed = [finding for finding in document["findings"] if counts(finding, least)]
    if failed:
        return FAILED, _headline(document, failed)
    asked, answered = document["coverage"]["asked"], document["coverage"]["answered"]
    if answered < min_coverage * asked or (not asked and min_coverage > 0):
        unknown = document["coverage"]["unknown"]
        first = f", first failed read: {clean(unknown[0]['observer'])} {clean(unknown[0]['operation'])}" if unknown else ""
        return UNCOVERED, f"only {answered} of {asked} reads were answered{first}; checks without data are unknown"
    return CLEAN, f"clean: no failure of severity {least.name} or above, {answered} of {asked} reads answered"


def severity(name: str) -> Severity:
    """Return the severity of that name, in any case; raises `UsageError` for another word."""
    try:
        return Severity[name.upper()]
    except KeyError:
        msg = f"{name!r} is not a severity; choose one of {', '.join(s.name.lower() for s in reversed(Severity))}"
        raise UsageError(msg) from None


def counts(finding: Mapping[str, Any], least: Severity) -> bool:
    """Tell whether a finding of a report keeps the gate shut."""
    return finding["status"] == Status.FAIL and not finding["muted"] and Severity[finding["severity"]] >= least


def _headline(document: Mapping[str, Any], failed: list[Mapping[str, Any]]) -> str:
    """Return the first headline that explains a failure, else the worst failure's own message."""
    fingerprints = {finding["fingerprint"] for finding in failed}
    told = [incident for incident in document["incidents"] if fingerprints & set(incident["findings"])]
    if told:
        more = len(told) - 1
        return clean(told[0]["headline"]) + (f" and {counted(more, 'more incident')}" if more else "")
    worst = max(failed, key=lambda finding: Severity[finding["severity"]])
    more = len(failed) - 1
    return clean(worst["message"]) + (f" and {counted(more, 'more finding')}" if more else "")
