# ruff: noqa: PLC0415 -- Airflow parses this file every 30 seconds; what a task needs is imported when the task runs
"""The check after a change: compare a cluster with the baseline that the gate kept, and sort what changed by the plan."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from airflow.sdk import Param, dag, get_current_context, task

from kafka_audit.airflow import assets
from kafka_audit.airflow.submit import CompareSnapshots

JOB = Path(__file__).resolve().parents[1] / "spark_jobs" / "diff_snapshots.py"

DOC = """
Compares a cluster with the baseline of `kafka_audit_before_migration`: what changed, what was meant to, what was not. Trigger it
by hand; it only reads.

`baseline` → `collect` → `compare` (Spark) → `report` → `differ`

The task `differ` fails when something changed that the plan does not mean, fails now, or was not done; its log has the list.
On a console: `kafka-audit after-migration CLUSTER`.
"""


@task
def baseline() -> str:
    """Find what to compare with."""
    from kafka_audit.airflow import migration_tasks

    params = get_current_context()["params"]
    return migration_tasks.baseline(params["cluster"], params["baseline"] or None)


@task
def collect() -> str:
    """Take a snapshot of the cluster."""
    from kafka_audit.airflow import tasks

    return tasks.collect_cluster(get_current_context()["params"]["cluster"], {})  # queues are asked by the scheduled audit alone


@task(multiple_outputs=False, outlets=[assets.AUDITED])
def report(run: str) -> dict[str, str]:
    """Turn Spark's answer into findings, incidents and the report."""
    from kafka_audit.airflow import tasks

    return tasks.report_run(run, get_current_context()["outlet_events"])


@task
def differ(judged: dict[str, str], baseline_id: str) -> None:
    """Fail unless everything is as it was meant to be."""
    from kafka_audit.airflow import migration_tasks

    migration_tasks.differ(get_current_context()["params"]["cluster"], judged, baseline_id)


@dag(
    dag_id="kafka_audit_after_migration",
    schedule=None,
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args={"owner": "kafka-audit", "retries": 0, "execution_timeout": timedelta(minutes=30)},
    params={
        "cluster": Param(type="string", minLength=1, title="Cluster", description="A name in the cluster file."),
        "baseline": Param(
            None, type=["null", "string"], title="Baseline", description="A snapshot's id; empty: the newest baseline."
        ),
    },
    tags=["kafka", "audit"],
    doc_md=DOC,
)
def kafka_audit_after_migration() -> None:
    """Wire the tasks; what they do is in `kafka_audit.airflow.migration_tasks`."""
    kept = baseline()
    snapshot = collect()
    compare = CompareSnapshots(task_id="compare", snapshot_ids=[snapshot], baseline=kept, application=str(JOB))
    judged = report(compare.output)
    kept >> snapshot
    differ(judged, kept)


kafka_audit_after_migration()
