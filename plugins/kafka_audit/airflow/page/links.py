"""Links from Airflow to a report and back: a DAG run's name in the store, the run in the UI, and the link at the gate."""

import hashlib
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from airflow.sdk import BaseOperatorLink

from kafka_audit.airflow.moved import conf

if TYPE_CHECKING:
    from airflow.sdk.types import TaskInstanceKey

DAG, SUSPECTED = "kafka_audit", "kafka_audit_suspected"
BEFORE, AFTER = "kafka_audit_before_migration", "kafka_audit_after_migration"
AUDITS = (DAG, SUSPECTED)
"""DAGs that audit many clusters."""

DAGS = (*AUDITS, BEFORE, AFTER)
"""Whose runs come to reports."""

PREFIX = "/kafka-audit"
LONGEST_RUN = 250  # Airflow's own limit of a run id


def run_prefix(dag_run_id: str) -> str:
    """Return what the names of all tries of a DAG run begin with: Hadoop paths take no colon, and Spark hides leading dots.

    Runs of two DAGs can have one id; for a task of another DAG than `DAGS`, the id must contain that DAG.
    """
    readable = re.sub(r"[^A-Za-z0-9]+", "-", dag_run_id).strip("-")[:80]
    return f"airflow-{readable}-{hashlib.sha256(dag_run_id.encode()).hexdigest()[:6]}-"


def base_url() -> str:
    """Return `[api] base_url` without a slash at its end; empty where nothing says where Airflow is."""
    return (conf.get("api", "base_url", fallback="") or "").rstrip("/")


def base_path() -> str:
    """Return the path of `[api] base_url`: what Airflow is served below."""
    return urlsplit(base_url()).path.rstrip("/")


def snapshot_page(snapshot_id: str) -> str:
    """Return the address of the report on a snapshot; empty where nothing says where Airflow is."""
    base = base_url()
    return f"{base}{PREFIX}/snapshots/{snapshot_id}" if base else ""


def relative(snapshot_id: str, dag_run_id: str, *, dag: str = DAG, folder: str = "snapshots") -> str:
    """Return the relative link from the pages' root to a report, or to what `folder` has on a snapshot, with its run."""
    of = {"run": dag_run_id} if dag == DAG else {"dag": dag, "run": dag_run_id}
    return f"{folder}/{snapshot_id}?{urlencode(of)}"


def of_run(dag_run_id: str, dag: str = DAG) -> str:
    """Return where the UI shows a run; empty for no run, or one of a DAG that is not ours."""
    known = dag_run_id and dag in DAGS
    return f"{base_path()}/dags/{dag}/runs/{quote(dag_run_id[:LONGEST_RUN], safe='')}" if known else ""


class AuditReport(BaseOperatorLink):
    """The button that leads to the report on a cluster, at each gate and at each task that is an audit of its own."""

    name = "Kafka audit report"

    def get_link(self, operator: Any, *, ti_key: "TaskInstanceKey") -> str:  # noqa: ANN401 -- Airflow's own, before or after mapping
        """Return the address; Airflow asks when the task ends, failed or not."""
        if (snapshot_id := getattr(operator, "snapshot_id", None)) is not None:
            return f"{base_url()}{PREFIX}/snapshots/{snapshot_id}" if snapshot_id else ""
        cluster = getattr(operator, "op_kwargs", {}).get("cluster", "")
        named = {"cluster": cluster} if isinstance(cluster, str) and cluster else {}
        asked = {"dag": ti_key.dag_id, "run": ti_key.run_id, **named}
        return f"{base_url()}{PREFIX}/run?{urlencode(asked)}"
