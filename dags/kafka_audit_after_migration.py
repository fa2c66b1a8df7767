# ruff: noqa: PLC0415 -- Airflow parses this file every 30 seconds; what a task needs is imported when the task runs
"""The check after a change: compare a cluster with the baseline of the gate, and group the changes by the plan."""

from datetime import UTC, datetime, timedelta

from airflow.sdk import Param, dag, get_current_context, task

from kafka_audit.airflow import environment
from kafka_audit.airflow.operators.compare_operator import CompareSnapshots
from kafka_audit.airflow.schedule import assets

DOC = """
Compares a cluster with the baseline of `kafka_audit_before_migration`, and lists planned and unexpected changes. Trigger it
manually; it only reads.

`baseline` → `collect` → `compare` (Spark) → `report` → `differ`

The task `differ` fails if a change is not planned, if a check fails now, or if a planned change is missing. Its log contains the
list. On the command line: `kafka-audit after-migration CLUSTER`.
"""


@task
def baseline() -> str:
    """Return the baseline."""
    from kafka_audit.airflow.tasks import migration_tasks

    params = get_current_context()["params"]
    return migration_tasks.baseline(params["cluster"], params["baseline"] or None)


@task(**environment.in_pool())
def collect() -> str:
    """Take a snapshot of the cluster."""
    from kafka_audit.airflow.tasks import audit_tasks

    cluster = get_current_context()["params"]["cluster"]
    return audit_tasks.collect_cluster(cluster, {})  # only the scheduled audit probes from queues


@task(multiple_outputs=False, outlets=[assets.AUDITED])
def report(run: str) -> dict[str, str]:
    """Convert the result of Spark to findings, incidents and the report."""
    from kafka_audit.airflow.tasks import audit_tasks

    return audit_tasks.report_run(run, get_current_context()["outlet_events"])


@task
def differ(judged: dict[str, str], baseline_id: str) -> None:
    """Fail unless all changes are planned and complete."""
    from kafka_audit.airflow.tasks import migration_tasks

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
            None, type=["null", "string"], title="Baseline", description="The id of a snapshot; empty: the newest baseline."
        ),
    },
    tags=["kafka", "audit"],
    doc_md=DOC,
)
def kafka_audit_after_migration() -> None:
    """Connect the tasks; their code is in `kafka_audit.airflow.tasks.migration_tasks`."""
    kept = baseline()
    snapshot = collect()
    compare = CompareSnapshots(task_id="compare", snapshot_ids=[snapshot], baseline=kept)
    judged = report(compare.output)
    kept >> snapshot
    differ(judged, kept)


kafka_audit_after_migration_dag = kafka_audit_after_migration()
