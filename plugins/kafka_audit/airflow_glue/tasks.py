"""What the tasks of the DAG `kafka_audit` do. XComs between them are names and ids; everything else is in the store."""

import logging
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from kafka_audit import audit, settings
from kafka_audit.airflow_glue import assets, connections, environment, notify, pyfiles
from kafka_audit.airflow_glue.errors import GateFailed
from kafka_audit.airflow_glue.page import links
from kafka_audit.airflow_glue.seen import is_blind
from kafka_audit.airflow_glue.submit import PY_FILES
from kafka_audit.collect.queues import Answer
from kafka_audit.model.errors import EngineError, UsageError
from kafka_audit.store import Store

log = logging.getLogger(__name__)


def cluster_names(wanted: str | None) -> list[str]:
    """Return the clusters of this run: all of the cluster file, or the one that was asked for.

    Raises:
        UsageError: unreadable or empty cluster file, or no such cluster in it.
    """
    path = environment.clusters_file()
    known = settings.load(path)
    if not known:
        msg = f"{path} names no cluster"
        raise UsageError(msg)
    if wanted is None:
        return list(known)
    if wanted not in known:
        msg = f"{path} has no cluster {wanted!r}; it has {', '.join(known)}"
        raise UsageError(msg)
    return [wanted]


def collect(cluster: str, answers: Mapping[str, Answer]) -> str:
    """Take a snapshot of one cluster and return its id; whatever the cluster does not answer becomes rows of it.

    Raises:
        UsageError: the cluster file or a connection is wrong.
        StoreError: the store could not be written.
    """
    described, passwords = connections.completed(settings.load(environment.clusters_file())[cluster])
    return audit.collect(described, _store(), log.info, secrets=passwords, answers=answers)


def request(snapshot_ids: Iterable[str], dag_run_id: str, baselines: Mapping[str, str | None] | None = None) -> str:
    """Ask Spark's question: pair each snapshot with its predecessor, run the row checks, put the package next to it.

    A damaged predecessor is passed over, which the log and that cluster's report say; other clusters are none the worse for it.

    Returns:
        The name of the run; a new one for each try, so that an answer to an earlier try is never taken for this one's.
    """
    store, run = _store(), run_name(dag_run_id)
    asked = audit.request(
        store, sorted(snapshot_ids), baselines, run, damaged=lambda error: log.warning("passed over: %s", error)
    )
    store.write_for_spark(run, PY_FILES, pyfiles.package_zip())
    for pair in asked.pairs:
        nothing = "nothing, what could be is damaged" if pair.passed_over else "nothing, being the first"
        log.info("%s is compared with %s", pair.snapshot_id, pair.previous_snapshot_id or nothing)
    return run


def run_name(dag_run_id: str) -> str:
    """Return a folder name for a try of a DAG run."""
    return f"{links.run_prefix(dag_run_id)}{secrets.token_hex(3)}"


def report(run: str, events: Any) -> dict[str, str]:  # noqa: ANN401 -- Airflow's outlet_events
    """Turn Spark's answer to this very run into a report for each cluster, and tell other DAGs which were audited.

    Returns:
        The judged snapshot by cluster name.

    Raises:
        EngineError: Spark's task is green, but it left no complete answer to this run.
    """
    store = _store()
    documents = audit.conclude(store, run, settings.load(environment.clusters_file()))
    judged = {document["cluster"]: document["snapshot_id"] for document in documents}
    if not judged:
        msg = f"run {run} has no judged snapshot in {store.root}"
        raise EngineError(msg)
    for document in documents:
        if not is_blind(document):
            assets.emit(events, assets.AUDITED, assets.audited(document["cluster"]), document)
    return judged


def noted(instance: Any, map_index: int) -> str:  # noqa: ANN401 -- Airflow's own, of which tests give another
    """Return the reason that a failed task left in this run, "" where nothing failed or could be noted."""
    found = [instance.xcom_pull(task_ids=task, key=notify.WHY) for task in ("request", "compare", "report")]
    own = instance.xcom_pull(task_ids="collect", key=notify.WHY, map_indexes=map_index)
    return next((text for text in (own, *found) if isinstance(text, str)), "")


def gate(cluster: str, judged: Mapping[str, str] | None, why: str, events: Any) -> None:  # noqa: ANN401 -- see `report`
    """Let a cluster pass, log the sentence that says so, and tell other DAGs.

    Args:
        cluster: its name.
        judged: what `report` returned; None when the run did not get that far.
        why: what the failed task before it said; may be empty.
        events: those that this task leaves.

    Raises:
        GateFailed: findings at or above KAFKA_AUDIT_FAIL_ON, too little coverage, or no report on this cluster at all.
    """
    if judged is None or cluster not in judged:
        nothing = "this run has no report, see its failed tasks before `report`"
        if judged is not None:
            nothing = "no snapshot was taken, see the log of its task `collect`"
        raise GateFailed(cluster=cluster, headline=f"not audited: {why or nothing}")
    snapshot_id = judged[cluster]
    document = _store().read_report(snapshot_id)
    if document is None:
        raise GateFailed(cluster=cluster, headline=f"not audited: the store has no report on snapshot {snapshot_id}")
    code, sentence = audit.gate(document, environment.fail_on(), environment.min_coverage())
    if code != audit.CLEAN:
        raise GateFailed(cluster=cluster, headline=sentence)
    log.info(sentence)
    assets.emit(events, assets.CLEAN, assets.clean(cluster), document)


def _store() -> Store:
    return Store(environment.store_root())
