# ruff: noqa: PLC0415 -- Airflow parses this file every 30 seconds; what a task needs is imported when the task runs
"""The gate before a change: take a snapshot, judge it with the plan, request an approval, keep the snapshot as baseline."""

from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Param, dag, get_current_context, task

from kafka_audit.airflow import environment
from kafka_audit.airflow.operators.compare_operator import CompareSnapshots
from kafka_audit.airflow.schedule import assets

KINDS = {
    "zookeeper-to-kraft": "ZooKeeper to KRaft",
    "rolling-upgrade": "rolling upgrade",
    "listeners-or-security": "listener or security change",
    "new-network": "exposing to a new network",
    "moving-hosts": "moving hosts",
    "dynamic-quorum": "static to dynamic quorum",
    "quorum-voters": "adding or removing voters",
    "controller-hosts": "moving or renaming controllers",
    "controller-certificates": "new certificates of controllers",
}

DOC = """
Decides whether a change of a cluster can begin, lists blockers first, and asks for an approval. Trigger it
manually; it only reads.

`planned` → `collect` → `compare` (Spark) → `report` → `decide` → `approve` → `keep`

* A no-go fails the task `decide`; its log contains the whole report. Fix the blockers and trigger the DAG again.
* Otherwise **Browse → Required Actions** asks for an approval. Without an answer within `KAFKA_AUDIT_APPROVAL_HOURS` (24), it is
  rejected.
* **Kafka audit** next to each run shows the report, go or no-go. For a change of the metadata quorum it shows the steps in order,
  with commands, and what breaks between two of them.
* If approved, the snapshot is the baseline for `kafka_audit_after_migration`.
* On the command line: `kafka-audit before-migration CLUSTER --kind zookeeper-to-kraft`.
"""

PARAMS = {
    "cluster": Param(type="string", minLength=1, title="Cluster", description="A name in the cluster file."),
    "kind": Param("zookeeper-to-kraft", type="string", enum=[*KINDS], values_display=KINDS, title="Kind of change"),
    "node_ids": Param(
        None,
        type=["null", "string"],
        title="Node ids of the KRaft controllers",
        description="ZooKeeper to KRaft: 3000,3001,3002. Adding or removing voters: all voters after the change.",
    ),
    "proposed": Param(
        None,
        type=["null", "array"],
        items={"type": "string"},
        title="Proposed server.properties",
        description="One per line: files, folders or patterns below the worker's folder KAFKA_AUDIT_PROPOSED_ROOT (default: "
        "proposed, next to the cluster file). Do not paste their content: it contains passwords.",
    ),
    "advertised": Param(
        None,
        type=["null", "array"],
        items={"type": "string"},
        title="Proposed advertised addresses",
        description="One per line: 0: CLIENT://kafka-0.example.com:9092, or CLIENT://kafka-{broker_id}.example.com:9092 for all. "
        "Moving or renaming controllers: 3000: CONTROLLER://kafka-c0.example.com:9093. They are probed now, from the worker and "
        "from the vantages below.",
    ),
    "kafka_version": Param(
        None,
        type=["null", "string"],
        title="Kafka version",
        description="The version after the change; proposed files are checked with it, e.g. 3.9.1. Upgrades require it.",
    ),
    "oldest_client": Param(
        None,
        type=["null", "string"],
        title="Oldest client",
        description="For an upgrade to Kafka 4: the oldest Kafka version whose clients connect, by the brokers' metric "
        "DeprecatedRequestsPerSec, e.g. 2.1.",
    ),
    "vantages": Param(
        None,
        type=["null", "array"],
        items={"type": "string"},
        title="Vantages that must reach every broker",
        description="Vantages of the cluster file.",
    ),
    "strict": Param(
        "high",
        type="string",
        enum=["critical", "high", "medium"],
        title="Blocker severity",
        description="A finding of this severity or above is a blocker.",
    ),
}


@task
def planned() -> dict[str, Any]:
    """Read the form."""
    from kafka_audit.airflow.tasks import migration_tasks

    return migration_tasks.planned(get_current_context()["params"])


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


@task(multiple_outputs=False)
def decide(judged: dict[str, str], plan: dict[str, Any]) -> dict[str, str]:
    """Fail on a no-go; otherwise prepare the approval."""
    from kafka_audit.airflow.tasks import migration_tasks

    return migration_tasks.decide(get_current_context()["params"]["cluster"], judged, plan)


@task
def keep(judged: dict[str, str]) -> str:
    """Keep the snapshot as baseline."""
    from kafka_audit.airflow.tasks import migration_tasks

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
    """Connect the tasks; their code is in `kafka_audit.airflow.tasks.migration_tasks`."""
    plan = planned()
    snapshot = collect()
    compare = CompareSnapshots(task_id="compare", snapshot_ids=[snapshot])
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


kafka_audit_before_migration_dag = kafka_audit_before_migration()
