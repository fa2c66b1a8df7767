"""What the pages show of a change: the decision before it and the comparison after it, as its DAGs left them in the store."""

from kafka_audit.airflow import environment
from kafka_audit.airflow.page.links import AFTER, BEFORE
from kafka_audit.migration import sections
from kafka_audit.model.errors import SnapshotError
from kafka_audit.report import verdicts
from kafka_audit.report.html import decision
from kafka_audit.store.baselines import COMPARISONS, DECISIONS, Baselines
from kafka_audit.store.manifest import cluster_of

_FOLDERS = {BEFORE: DECISIONS, AFTER: COMPARISONS}


def folder(dag: str, snapshot_id: str) -> str:
    """Return the folder with the fullest report on a snapshot that a run of this DAG took."""
    of_dag = _FOLDERS.get(dag, "")
    return of_dag if of_dag and _find(of_dag, snapshot_id) is not None else "snapshots"


def migration_page(folder: str, snapshot_id: str, run_link: str) -> str | None:
    """Return the page on a snapshot, None where there is none."""
    report = _find(folder, snapshot_id) if folder in _FOLDERS.values() else None
    if report is None:
        return None
    shown = sections.before_change_sections(report) if folder == DECISIONS else sections.after_change_sections(report)
    note = _note(report) if folder == DECISIONS else ""
    return decision.decision_page(report, shown, sections.planned_changes(report), up="../", note=note, run_link=run_link)


def _note(report: dict[str, object]) -> str:
    if report["verdict"] == verdicts.NO_GO:
        return "No approval is required. Fix the blockers and trigger the DAG again."
    if _find("", str(report["snapshot_id"])) is not None:
        return "Approved: this snapshot is the baseline for the comparison after the change."
    return "Not approved: it is pending under Required Actions, or was rejected."


def _find(folder: str, snapshot_id: str) -> dict[str, object] | None:
    cluster = cluster_of(snapshot_id)
    root = environment.store_root()
    baselines = Baselines(root, folder) if folder else Baselines(root)
    try:
        return None if cluster is None else baselines.find(cluster, snapshot_id)
    except SnapshotError:
        return None
