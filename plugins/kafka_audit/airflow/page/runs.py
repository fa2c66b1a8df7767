"""The state of the newest DAG run, which no report contains: it is running, or it ended without a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kafka_audit.airflow import internals
from kafka_audit.airflow.page.links import DAG
from kafka_audit.report.html.pages import Failed

_FAILED = frozenset({"failed", "upstream_failed"})
_OF_ALL = ("clusters", "compare", "report")
"""Tasks that work for all clusters of a run at once."""


@dataclass(frozen=True, kw_only=True)
class NewestRun:
    """The newest run; `tasks` are (task, cluster or "", state), and `at` is when it began."""

    run_id: str
    state: str
    at: datetime | None
    tasks: Sequence[tuple[str, str, str]]


def newest_audit() -> NewestRun | None:
    """Return the newest run of the DAG, None where there was none."""
    run = internals.newest_run(DAG)
    return None if run is None else NewestRun(run_id=run.run_id, state=run.state, at=run.at, tasks=run.tasks)


def failed_clusters(run: NewestRun | None, known: Sequence[str]) -> Mapping[str, Failed]:
    """Return the clusters without a report of the newest run, each with the task that failed.

    Args:
        run: the newest run; one that still goes on says nothing yet.
        known: all clusters; they all were to be audited where the run did not get as far as their names.
    """
    if run is None or run.state not in {"success", "failed"}:
        return {}
    named = {cluster for task, cluster, _ in run.tasks if task in {"collect", "gate"} and cluster}
    broken = next((task for task in _OF_ALL if (task, "", "failed") in run.tasks), None)
    if broken is not None:
        return {cluster: Failed(task=broken, run=run.run_id, at=run.at) for cluster in (named or known)}
    return {
        cluster: Failed(task=task, run=run.run_id, at=run.at)
        for task, cluster, state in run.tasks
        if task == "collect" and cluster and state in _FAILED
    }
