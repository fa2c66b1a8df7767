"""What the tasks of the DAG `kafka_audit` do. XComs between them are names and ids; everything else is in the store."""

import logging
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from kafka_audit import audit, settings
from kafka_audit.airflow import environment, xcom_keys
from kafka_audit.airflow.alerts import task_alerts
from kafka_audit.airflow.connections import cluster_connection
from kafka_audit.airflow.errors import GateFailed
from kafka_audit.airflow.page import links
from kafka_audit.airflow.schedule import assets
from kafka_audit.airflow.tasks import otel_metrics, pyfiles
from kafka_audit.alerting.conditions import is_blind
from kafka_audit.alerting.shared_causes import run_troubles
from kafka_audit.checks import catalogue
from kafka_audit.collect.queue_vantages import QueueAnswer
from kafka_audit.model.errors import EngineError, SnapshotError, UsageError
from kafka_audit.model.labels import with_labels
from kafka_audit.model.text import our_line
from kafka_audit.report.gate import CLEAN, evaluate_gate
from kafka_audit.report.plain_text.terminal import incidents_in_brief
from kafka_audit.store import Store
from kafka_audit.store.history import History
from kafka_audit.store.manifest import cluster_of

log = logging.getLogger(__name__)
_LOG_WIDTH = 120


def cluster_names(wanted: str | None, labels: Mapping[str, str] | None = None, suspected: Collection[str] = ()) -> list[str]:
    """Return the clusters of this run: those of the cluster file that have the wanted name and labels.

    Args:
        wanted: the name of a cluster; None: all.
        labels: label by name; None or empty: any.
        suspected: clusters whose suspicions triggered this run; then these alone.

    Raises:
        UsageError: unreadable or empty cluster file, or no such cluster in it.
    """
    path = environment.clusters_file()
    known = settings.load(path, codes=catalogue())
    if not known:
        msg = f"{path} names no cluster"
        raise UsageError(msg)
    if wanted is not None and wanted not in known:
        msg = f"{path} has no cluster {wanted!r}; it has {', '.join(known)}"
        raise UsageError(msg)
    if suspected and (left := [name for name in known if name in suspected]):
        log.info("this run was triggered by suspicions; clusters: %s", ", ".join(left))
        return left
    if suspected:
        msg = f"{path} has none of the suspected clusters {', '.join(sorted(suspected))}"
        raise UsageError(msg)
    chosen = list(with_labels(known, labels or {}, path))
    if wanted is None:
        return chosen
    if wanted not in chosen:
        msg = f"{path}: cluster {wanted} does not have the labels of this run"
        raise UsageError(msg)
    return [wanted]


def slowest_first(names: Iterable[str]) -> list[str]:
    """Return clusters in the order in which a run begins to read them: those without a snapshot, then the slowest one.

    Airflow starts mapped tasks by index, and Spark waits for all of them: a cluster that takes its whole time, because it hangs,
    must not be the last one to begin.
    """
    store = _store()
    newest = {cluster: ids[0] for cluster, ids in History(store.root).snapshots().items()}
    seconds = {name: _seconds(store, newest.get(name)) for name in names}
    return sorted(seconds, key=lambda name: -seconds[name])


def _seconds(store: Store, snapshot_id: str | None) -> float:
    """Return how long a snapshot took, infinity where that is not known."""
    try:
        manifest = None if snapshot_id is None else store.manifest(snapshot_id)
    except SnapshotError:  # damaged, or being written: its own task says so
        return float("inf")
    return float("inf") if manifest is None else (manifest.finished_ms - manifest.started_ms) / 1000


def collect_cluster(cluster: str, answers: Mapping[str, QueueAnswer]) -> str:
    """Take a snapshot of one cluster and return its id; whatever the cluster does not answer becomes rows of it.

    Raises:
        UsageError: the cluster file or a connection is wrong.
        StoreError: the store could not be written.
    """
    described, passwords = cluster_connection.with_airflow_connection(settings.load(environment.clusters_file())[cluster])
    return audit.publish_snapshot(described, _store(), log.info, secrets=passwords, answers=answers)


def write_run_request(snapshot_ids: Iterable[str], dag_run_id: str, baseline: str | None = None) -> str:
    """Pair each snapshot with its predecessor: the question to Spark.

    A damaged predecessor is passed over, which the log and that cluster's report say. A snapshot that cannot be read is left
    out, which `report` hands to that cluster's gate. Other clusters are none the worse for either. `baseline` is the snapshot
    to compare with instead.

    Returns:
        The name of the run; a new one for each try, so that an answer to an earlier try is never taken for this one's.
    """
    store, run, wanted = _store(), run_name(dag_run_id), sorted(snapshot_ids)
    asked = audit.prepare_request(
        store,
        wanted,
        None if baseline is None else dict.fromkeys(wanted, baseline),
        run,
        clusters=settings.load(environment.clusters_file()),
        damaged=lambda error: log.warning("passed over: %s", error),
        failed=lambda snapshot_id, why: log.error("%s is left out: %s", snapshot_id, why),
    )
    for pair in asked.pairs:
        nothing = "nothing, because earlier snapshots are damaged" if pair.passed_over else "nothing, being the first"
        log.info("%s is compared with %s", pair.snapshot_id, pair.previous_snapshot_id or nothing)
    return run


def write_package(run: str) -> None:
    """Put the package beside the question to Spark, for machines where it is not installed."""
    _store().write_for_job(run, pyfiles.NAME, pyfiles.package_zip())


def run_name(dag_run_id: str) -> str:
    """Return a folder name for a try of a DAG run."""
    return f"{links.run_prefix(dag_run_id)}{secrets.token_hex(3)}"


def report_run(
    run: str,
    events: Any,  # noqa: ANN401 -- Airflow's outlet_events
    noted: Callable[[str, str], None] | None = None,
) -> dict[str, str]:
    """Publish the reports of the Spark job, and update the assets of the audited clusters.

    Args:
        run: its name.
        events: those that this task leaves.
        noted: gets the name of each cluster that comes to no report, and why.

    Returns:
        The judged snapshot by cluster name.

    Raises:
        EngineError: Spark's task is green, but it left no complete answer to this run.
    """

    def failed(snapshot_id: str, why: str) -> None:
        log.error("%s gets no report: %s", snapshot_id, why)
        if noted is not None:
            noted(cluster_of(snapshot_id) or snapshot_id, our_line(why, xcom_keys.WHY_CHARS))

    store = _store()
    clusters = settings.load(environment.clusters_file())
    documents = audit.write_reports(store, run, clusters, failed=failed)
    judged = {document.cluster: document.snapshot_id for document in documents}
    if not judged:
        msg = f"run {run} has no judged snapshot in {store.root}"
        raise EngineError(msg)
    for document in documents:
        if not is_blind(document):
            assets.add_asset_event(events, assets.AUDITED, assets.audited_asset(document.cluster), document)
    otel_metrics.send_metrics(documents)
    store.write_troubles(run, run_troubles(documents, clusters, task_alerts.alert_limits()).to_json())
    return judged


def noted_reason(instance: Any, map_index: int, cluster: str) -> str:  # noqa: ANN401 -- Airflow's own, of which tests give another
    """Return the reason that a failed task left in this run, "" where nothing failed or could be noted."""
    found = [instance.xcom_pull(task_ids=task, key=xcom_keys.WHY) for task in ("compare", "report")]
    own = instance.xcom_pull(task_ids="collect", key=xcom_keys.WHY, map_indexes=map_index)
    unjudged = instance.xcom_pull(task_ids="report", key=xcom_keys.why_of(cluster))
    return next((text for text in (own, unjudged, *found) if isinstance(text, str)), "")


def gate(  # noqa: PLR0913 -- two of them are those of a task that is an audit of its own
    cluster: str,
    judged: Mapping[str, str] | None,
    why: str,
    events: Any,  # noqa: ANN401 -- see `report_run`
    *,
    fail_on: str | None = None,
    min_coverage: float | None = None,
) -> dict[str, Any]:
    """Log the result of a cluster that passes, and update its asset.

    Args:
        cluster: its name.
        judged: what `report_run` returned; None when the run did not get that far.
        why: what the failed task before it said; may be empty.
        events: those that this task leaves.
        fail_on: the severity to fail from; None: that of the deployment.
        min_coverage: the share of asked reads that must be answered; None: that of the deployment.

    Returns:
        The summary of the report that asset events have, too.

    Raises:
        GateFailed: findings at or above the severity, too little coverage, or no report on this cluster at all.
    """
    if judged is None or cluster not in judged:
        nothing = "this run has no report; see the failed tasks before `report`"
        if judged is not None:
            nothing = "no snapshot was taken; see the log of its task `collect`"
        raise GateFailed(cluster=cluster, headline=why or nothing, audited=False)
    snapshot_id = judged[cluster]
    document = _store().read_report(snapshot_id)
    if document is None:
        raise GateFailed(cluster=cluster, headline=f"the store has no report on snapshot {snapshot_id}", audited=False)
    usual = environment.fail_on(), environment.min_coverage()
    code, sentence = evaluate_gate(document, fail_on or usual[0], usual[1] if min_coverage is None else min_coverage)
    if code != CLEAN:  # Airflow prints a traceback of its own frames for the exception, so what to do comes before it
        in_brief = incidents_in_brief(document, width=_LOG_WIDTH)
        lines = (f"{cluster} does not pass: {sentence}", in_brief, links.snapshot_page(snapshot_id))
        log.error("%s", "\n".join(filter(None, lines)))
        raise GateFailed(cluster=cluster, headline=sentence)
    log.info(sentence)
    if evaluate_gate(document, *usual)[0] == CLEAN:  # the asset means the same, whichever DAG updates it
        assets.add_asset_event(events, assets.CLEAN, assets.clean_asset(cluster), document)
    return assets.event_summary(document)


def _store() -> Store:
    return Store(environment.store_root())
