# ruff: noqa: PLC0415 -- Airflow imports this with its DAG files, every 30 seconds; what a task needs is imported when the task runs
"""The tasks of an audit of many clusters, and the DAGs that they are: a scheduled one, and one for what is suspected."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import Param, dag, get_current_context, task
from airflow.sdk.bases.decorator import DecoratedOperator, TaskDecorator, task_decorator_factory

from kafka_audit.airflow import environment, xcom_keys
from kafka_audit.airflow.alerts.failure_notes import note_failure
from kafka_audit.airflow.notifier import KafkaAuditNotifier
from kafka_audit.airflow.operators.compare_operator import CompareSnapshots
from kafka_audit.airflow.page.links import AuditReport
from kafka_audit.airflow.schedule import assets
from kafka_audit.airflow.tasks import vantage_queues
from kafka_audit.airflow.tasks.retries import SPARK_HICCUPS, STORE_HICCUPS, retried


class GateOperator(DecoratedOperator, PythonOperator):
    """A Python task with the link; links hang on operator classes, and not on tasks."""

    custom_operator_name = "gate"
    operator_extra_links = (AuditReport(),)
    template_fields = PythonOperator.template_fields
    template_fields_renderers = PythonOperator.template_fields_renderers

    def __init__(self, **arguments: Any) -> None:  # noqa: ANN401 -- those of both parents
        """Take what a decorated task takes; both parents get the function and its arguments."""
        names = ("python_callable", "op_args", "op_kwargs")
        super().__init__(kwargs_to_upstream={name: arguments[name] for name in names}, **arguments)


def gate_task(function: Callable[..., Any] | None = None, **arguments: Any) -> TaskDecorator:  # noqa: ANN401 -- those of `@task`
    """Make a task of a function, as `@task` does."""
    return task_decorator_factory(python_callable=function, decorated_operator_class=GateOperator, **arguments)


CLUSTERS_AT_ONCE = 4
ALERT = KafkaAuditNotifier()


@task(on_failure_callback=ALERT)  # without clusters there is no gate that could alert
def clusters() -> list[str]:
    """Read the cluster file."""
    from kafka_audit.airflow.tasks import audit_tasks

    context = get_current_context()
    params = context["params"]
    suspected = assets.suspected_clusters(context["triggering_asset_events"])
    return audit_tasks.slowest_first(audit_tasks.cluster_names(params["cluster"], params["labels"], suspected))


@task(
    map_index_template="{{ task.op_kwargs['cluster'] }}",
    trigger_rule="all_done_min_one_success",  # a queue without a worker causes unknown probes, not a missing snapshot
    **environment.in_pool(max_active_tis_per_dagrun=CLUSTERS_AT_ONCE),
    **retried(STORE_HICCUPS),
    on_failure_callback=note_failure,
)
def collect(cluster: str) -> str:
    """Take a snapshot of one cluster."""
    from kafka_audit.airflow.tasks import audit_tasks, queue_tasks

    return audit_tasks.collect_cluster(cluster, queue_tasks.pulled(get_current_context()["ti"], cluster))


@task(task_id="errands", multiple_outputs=False)
def queue_errands(clusters: Iterable[str]) -> Mapping[str, Any]:
    """Return the probes for workers of other queues, for clusters with such vantages."""
    from kafka_audit.airflow.tasks import queue_tasks

    return queue_tasks.errands(clusters)


@task(multiple_outputs=False)
def probe_queue(queue: str, asked: dict[str, dict[str, object]]) -> dict[str, list[str]] | None:
    """Probe from this worker, twice. `queue` cannot be mapped, so each queue has its own task."""
    from kafka_audit.airflow.tasks import queue_tasks

    return queue_tasks.probe(queue, asked)


@task(
    multiple_outputs=False,  # otherwise Airflow creates one XCom for each cluster
    **retried(STORE_HICCUPS),
    on_failure_callback=note_failure,
    outlets=[assets.AUDITED],
)
def report(run: str) -> dict[str, str]:
    """Convert the result of Spark to findings, incidents and reports."""
    from kafka_audit.airflow.tasks import audit_tasks

    context = get_current_context()
    instance = context["ti"]

    def note(cluster: str, why: str) -> None:
        instance.xcom_push(key=xcom_keys.why_of(cluster), value=why)

    return audit_tasks.report_run(run, context["outlet_events"], note)


@gate_task(
    task_id="gate",
    map_index_template="{{ task.op_kwargs['cluster'] }}",
    trigger_rule="all_done",  # a gate that does not run would look like a successful one
    on_failure_callback=ALERT,
    on_success_callback=ALERT,  # the end of an incident is an alert too
    outlets=[assets.CLEAN],
)
def cluster_gate(cluster: str, judged: dict[str, str] | None) -> None:
    """Fail if the findings of this cluster reach KAFKA_AUDIT_FAIL_ON, or if it was not audited."""
    from kafka_audit.airflow.tasks import audit_tasks

    context = get_current_context()
    instance: Any = context["ti"]
    why = audit_tasks.noted_reason(instance, max(instance.map_index, 0), cluster)
    audit_tasks.gate(cluster, judged, why, context["outlet_events"])


def audit_dag(dag_id: str, schedule: Any, **arguments: Any) -> Any:  # noqa: ANN401 -- those of `dag`, and a DAG
    """Return a DAG of these tasks."""

    @dag(
        dag_id=dag_id,
        schedule=schedule,
        start_date=datetime(2026, 1, 1, tzinfo=UTC),
        catchup=False,
        dagrun_timeout=timedelta(hours=2),
        default_args={"owner": "kafka-audit", "retries": 0, "execution_timeout": timedelta(minutes=30)},
        params={
            "cluster": Param(None, type=["null", "string"], title="Cluster", description="A cluster; empty: all"),
            "labels": Param(
                None,
                type=["null", "object"],
                additionalProperties={"type": "string"},
                title="Labels",
                description='Only clusters with these labels, for example {"env": "prod"}; empty: all',
            ),
        },
        tags=["kafka", "audit"],
        **arguments,
    )
    def audit() -> None:
        names: Any = clusters()
        snapshots = collect.expand(cluster=names)
        if queues := vantage_queues.tasks():
            asked: Any = queue_errands(names)
            for task_id, queue in queues.items():
                probed = probe_queue.override(task_id=task_id, queue=queue, executor=vantage_queues.executor())
                probed(queue, asked) >> snapshots
        compare = CompareSnapshots(
            task_id="compare",
            snapshot_ids=snapshots,
            trigger_rule="all_done_min_one_success",  # a failure of one cluster must not hide the others
            **retried(SPARK_HICCUPS),
            retry_delay=timedelta(seconds=30),
            on_failure_callback=note_failure,
        )
        output: Any = compare.output
        judged = report(output)
        cluster_gate.partial(judged=judged).expand(cluster=names)

    return audit()
