"""`KafkaAuditOperator`: an audit of one cluster as one task, by the steps of the DAG `kafka_audit`."""

from typing import Any

from airflow.sdk import Context

from kafka_audit.airflow import environment, xcom_keys
from kafka_audit.airflow.operators.compare_operator import CompareSnapshots
from kafka_audit.airflow.page.links import AuditReport
from kafka_audit.airflow.schedule import assets
from kafka_audit.airflow.tasks.retries import SPARK_HICCUPS
from kafka_audit.report.gate import severity_of


class KafkaAuditOperator(CompareSnapshots):
    """Audits a cluster: takes a snapshot, compares it in Spark, writes the report, and fails if the report is not clean.

    The cluster file, the store, the pool and the connection `kafka_audit_spark` are those of the deployment. Probes from Airflow
    queues need tasks of their own, so queue vantages are unknown here. The task updates the assets of the cluster if it
    succeeds.

    Args:
        cluster: its name in the cluster file (templated).
        fail_on: the severity from which the task fails (templated); default: KAFKA_AUDIT_FAIL_ON.
        min_coverage: the share of asked reads, 0 to 1, below which the task fails; default: KAFKA_AUDIT_MIN_COVERAGE.
        baseline: the id of the snapshot to compare with (templated); default: the previous snapshot of the cluster.
        kwargs: those of `BaseOperator`.

    Returns (as XCom):
        A summary of the report: cluster, snapshot_id, finished_at, headlines of incidents, and counts.
    """

    template_fields = (*CompareSnapshots.template_fields, "cluster", "fail_on")
    operator_extra_links = (AuditReport(),)
    ui_color = "#d9e8f5"
    is_an_audit = True
    """By which `KafkaAuditNotifier` knows it."""

    def __init__(
        self,
        *,
        cluster: str,
        fail_on: str | None = None,
        min_coverage: float | None = None,
        baseline: str | None = None,
        **kwargs: Any,  # noqa: ANN401 -- BaseOperator's own
    ) -> None:
        """Take what is audited, and when the task fails."""
        outlets = [*(kwargs.pop("outlets", None) or ()), assets.AUDITED, assets.CLEAN]
        own = environment.in_pool() | ({} if SPARK_HICCUPS is None else {"retry_policy": SPARK_HICCUPS})
        super().__init__(snapshot_ids=(), baseline=baseline, **own | kwargs, outlets=outlets)
        self.cluster = cluster
        self.fail_on = fail_on
        self.min_coverage = min_coverage
        self.snapshot_id = ""

    def execute(self, context: Context) -> Any:  # noqa: ANN401 -- a summary, not the name of a run as the parent's
        """Audit the cluster.

        Raises:
            GateFailed: findings at or above the severity, or too little coverage; it is not retried.
            UsageError: no such cluster or severity, or the cluster file or a connection is wrong.
            StoreError: the store could not be read or written.
            EngineError: Spark did not run, or gave no answer.
        """
        from kafka_audit.airflow.tasks import audit_tasks  # noqa: PLC0415 -- not where DAG files are parsed: it imports the collector

        instance = context["ti"]
        if self.fail_on:
            severity_of(self.fail_on)  # before anything is asked of the cluster
        (cluster,) = audit_tasks.cluster_names(self.cluster)
        instance.xcom_push(key=xcom_keys.AUDIT, value={"cluster": cluster})
        taken = audit_tasks.collect_cluster(cluster, {})
        # Runs of two DAGs can have one id.
        run = self.compare([taken], f"{instance.dag_id} {instance.task_id} {context['run_id']}", context)
        judged = audit_tasks.report_run(run, context["outlet_events"])
        self.snapshot_id = judged[cluster]
        instance.xcom_push(key=xcom_keys.AUDIT, value={"cluster": cluster, "snapshot_id": self.snapshot_id})
        return audit_tasks.gate(
            cluster, judged, "", context["outlet_events"], fail_on=self.fail_on, min_coverage=self.min_coverage
        )
