# ruff: noqa: PLC0415 -- Airflow parses this file every 30 seconds; what a task needs is imported when the task runs
"""The gate before a change: snapshot a cluster, judge it and what is planned, ask a person, keep the snapshot as baseline."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Param, dag, get_current_context, task

from kafka_audit.airflow import assets, environment
from kafka_audit.airflow.submit import CompareSnapshots

JOB = Path(__file__).resolve().parents[1] / "spark_jobs" / "diff_snapshots.py"
KINDS = {
    "zookeeper-to-kraft": "ZooKeeper to KRaft",
    "rolling-upgrade": "rolling upgrade",
    "listeners-or-security": "listener or security change",
    "new-network": "exposing to a new network",
    "moving-hosts": "moving hosts",
}

DOC = """
Says whether a change of a cluster may begin, with blockers first, and asks a person. Trigger it by hand; it only reads.

`planned` → `collect` → `compare` (Spark) → `report` → `decide` → `approve` → `keep`

* A no-go fails the task `decide`; its log has the whole report. Mend the blockers and trigger again.
* Otherwise **Browse → Required Actions** asks to approve. Nobody answers in `KAFKA_AUDIT_APPROVAL_HOURS` (24): rejected.
* **Kafka audit** beside each run is the report, no-go or go.
* Approved, the snapshot is the baseline that `kafka_audit_after_migration` compares with.
* On a console: `kafka-audit before-migration CLUSTER --kind zookeeper-to-kraft`.
"""

PARAMS = {
    "cluster": Param(type="string", minLength=1, title="Cluster", description="A name in the cluster file."),
    "kind": Param("zookeeper-to-kraft", type="string", enum=[*KINDS], values_display=KINDS, title="What is to be done"),
    "node_ids": Param(
        None, type=["null", "string"], title="Node ids of the KRaft controllers", description="ZooKeeper to KRaft: 3000,3001,3002"
    ),
    "proposed": Param(
        None,
        type=["null", "array"],
        items={"type": "string"},
        title="Proposed server.properties",
        description="One a line: files, folders or patterns below the worker's folder KAFKA_AUDIT_PROPOSED_ROOT (default: "
        "proposed, beside the cluster file). Never their content: it holds passwords.",
    ),
    "advertised": Param(
        None,
        type=["null", "array"],
        items={"type": "string"},
        title="Proposed advertised addresses",
        description="One a line: 0: CLIENT://kafka-0.example.com:9092, or CLIENT://kafka-{broker_id}.example.com:9092 for all. "
        "They are tried now, from the worker and from who must reach them.",
    ),
    "kafka_version": Param(
        None, type=["null", "string"], title="Release to run", description="Proposed files are judged by it, e.g. 3.9.1."
    ),
    "vantages": Param(
        None,
        type=["null", "array"],
        items={"type": "string"},
        title="Who must reach every broker",
        description="Vantages of the cluster file.",
    ),
    "strict": Param(
        "high",
        type="string",
        enum=["critical", "high", "medium"],
        title="How strict",
        description="From which severity on a finding is a blocker.",
    ),
}


@task
def planned() -> dict[str, Any]:
    """Read the form."""
    from kafka_audit.airflow import migration_tasks

    return migration_tasks.planned(get_current_context()["params"])


@task
def collect() -> str:
    """Take a snapshot of the cluster."""
    from kafka_audit.airflow import tasks

    return tasks.collect(get_current_context()["params"]["cluster"], {})  # queues are asked by the scheduled audit alone


@task(multiple_outputs=False, outlets=[assets.AUDITED])
def report(run: str) -> dict[str, str]:
    """Turn Spark's answer into findings, incidents and the report."""
    from kafka_audit.airflow import tasks

    return tasks.report(run, get_current_context()["outlet_events"])


@task(multiple_outputs=False)
def decide(judged: dict[str, str], plan: dict[str, Any]) -> dict[str, str]:
    """Fail on a no-go, else prepare the question."""
    from kafka_audit.airflow import migration_tasks

    return migration_tasks.decide(get_current_context()["params"]["cluster"], judged, plan)


@task
def keep(judged: dict[str, str]) -> str:
    """Keep the snapshot as baseline."""
    from kafka_audit.airflow import migration_tasks

    return migration_tasks.keep(get_current_context()["params"]["cluster"], judged)


@dag(
    dag_id="kafka_audit_before_migration",
    schedule=None,
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args={"owner": "kafka-audit", "retries": 0, "execution_timeout": timedelta(minutes=30)},
    params=PARAMS,
    tags=["kafka", "audit"],
    doc_md=DOC,
)
def kafka_audit_before_migration() -> None:
    """Wire the tasks; what they do is in `kafka_audit.airflow.migration_tasks`."""
    plan = planned()
    snapshot = collect()
    compare = CompareSnapshots(task_id="compare", snapshot_ids=[snapshot], application=str(JOB))
    judged = report(compare.output)
    approve = ApprovalOperator(
        task_id="approve",
        subject="{{ ti.xcom_pull(task_ids='decide')['subject'] }}",
        body="{{ ti.xcom_pull(task_ids='decide')['body'] }}",
        defaults=["Reject"],
        response_timeout=environment.approval(),
        execution_timeout=None,
    )
    plan >> snapshot
    decide(judged, plan) >> approve >> keep(judged)


kafka_audit_before_migration()
