"""Submit the comparison to Spark, wherever the connection `kafka_audit_spark` says; without one, on this machine."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Connection, Context
from airflow.sdk.log import mask_secret

from kafka_audit.airflow import environment, internals
from kafka_audit.airflow.connections import cluster_connection, store_connection
from kafka_audit.airflow.tasks import pyfiles
from kafka_audit.bounds import child_environment
from kafka_audit.bounds.scratch import Scratch
from kafka_audit.clients.secrets.secret_keys import is_secret
from kafka_audit.model.errors import UsageError
from kafka_audit.model.run import run_path
from kafka_audit.model.text import without_logins
from kafka_audit.spark import submission
from kafka_audit.spark.local_settings import UMASK
from kafka_audit.spark.object_stores import url

CONNECTION = "kafka_audit_spark"
LOCAL_MASTER = '{"conn_type": "spark", "host": "local[*]"}'


class CompareSnapshots(SparkSubmitOperator):
    """One submission for all clusters of a run.

    Differs from its parent where that would guess: a missing connection means `local[*]`, not the parent's YARN, and
    `spark-submit` is the one of the installed pyspark unless the connection's extra `spark-binary` names another, so it
    need not be on the worker's PATH (`airflow` called by its full path has no venv there).

    Args:
        snapshot_ids: snapshots to judge, or the XCom that holds them.
        baseline: id of the snapshot to compare with; None: each with the previous one of its cluster.
        application: path of the Spark job; empty: `submission.spark_job` finds it when the task runs.

    Returns (as XCom):
        The name of the run, by which `report` finds the answer.
    """

    template_fields = (*SparkSubmitOperator.template_fields, "snapshot_ids", "baseline")

    def __init__(
        self,
        *,
        snapshot_ids: Any,  # noqa: ANN401 -- ids, or an XComArg
        application: str = "",
        baseline: Any = None,  # noqa: ANN401 -- an id, or an XComArg
        **kwargs: Any,  # noqa: ANN401 -- BaseOperator's own
    ) -> None:
        """Take what differs from run to run; the rest is the same for every submission."""
        self.snapshot_ids = snapshot_ids
        self.baseline = baseline
        super().__init__(
            application=application,
            conn_id=CONNECTION,
            name="kafka-audit",
            driver_memory=environment.spark_memory(),
            executor_memory=environment.spark_memory(),
            **kwargs,
        )
        # Each try asks Spark for a run of its own. A durable parent would take the driver of an earlier try for this one's, and
        # refuses YARN's cluster mode. An attribute, because earlier versions of the provider have no such argument.
        self.durable = False

    def execute(self, context: Context) -> str:  # type: ignore[override] # the parent returns nothing
        """Compare the snapshots; return the name of the run."""
        return self.compare(list(self.snapshot_ids), context["run_id"], context)

    def compare(self, snapshot_ids: Sequence[str], run_id: str, context: Context) -> str:
        """Pair snapshots with what they are compared with, submit, wait; return the name of the run.

        Args:
            snapshot_ids: snapshots to judge.
            run_id: names the run; see `links.run_prefix`.
            context: that of the task.

        Raises:
            EngineError: no `spark-submit` or no Spark job to be found.
            UsageError: Spark does not support what the connection says.
            SnapshotError: none of the snapshots can be read.
        """
        from kafka_audit.airflow.tasks import audit_tasks  # noqa: PLC0415 -- not where DAG files are parsed: it imports the collector

        self.application = self.application or str(submission.spark_job(Path(self.dag.fileloc).parent))
        connection = cluster_connection.find_connection(CONNECTION)
        require_possible(connection)
        run = audit_tasks.write_run_request(snapshot_ids, run_id, self.baseline)
        root = without_logins(environment.store_root())  # Airflow shows arguments; a store refuses such a URL
        self.application_args = ["--store", root, "--run", run]
        if connection is None:
            # The hook asks Airflow for the connection again and takes YARN when there is none; the environment of this
            # process of the task is the public way to answer it.
            os.environ[f"AIRFLOW_CONN_{CONNECTION.upper()}"] = LOCAL_MASTER
        if connection is None or "spark-binary" not in connection.extra_dejson:
            # The connection may name three binaries only, and the operator takes one before the connection is known.
            os.environ["PATH"] = f"{submission.own_spark_submit().parent}{os.pathsep}{os.environ.get('PATH') or os.defpath}"
        before = os.umask(UMASK)  # spark-submit inherits it, and a driver on this machine
        try:
            with Scratch() as scratch, store_connection.in_environment(root):
                self.conf, self.env_vars = settings(connection, str(scratch.path))
                self.conf = submission.store_conf(root) | self.conf
                mask_secrets(self.conf)
                if is_of_this_python(connection, self.conf):
                    self.env_vars = {**(self.env_vars or {}), **submission.python_path()}
                else:
                    self.py_files = package_file(root, run, connection, scratch.path)
                internals.make_spark_hook(self)  # asks for the connection, which may be a variable of the environment
                with child_environment.only_of_spark(internals.PROCESS_VARIABLES):
                    super().execute(context)
        finally:
            os.umask(before)
        return run


def is_local(connection: Connection | None) -> bool:
    """Return whether Spark runs within this task; without a connection it does."""
    return connection is None or (connection.host or "").startswith("local")


def is_of_this_python(connection: Connection | None, conf: Mapping[str, str]) -> bool:
    """Return whether Spark's only process of Python is one of this interpreter, which imports the package as this task does."""
    python = conf.get("spark.pyspark.driver.python", conf.get("spark.pyspark.python"))
    return is_local(connection) and python == sys.executable


def is_cluster_mode(connection: Connection | None) -> bool:
    """Return whether a connection lets the driver run on the cluster; without one it runs here."""
    return connection is not None and connection.extra_dejson.get("deploy-mode") == "cluster"


def require_possible(connection: Connection | None) -> None:
    """Raise `UsageError` for the cluster mode of a standalone cluster, which takes no application in Python."""
    if connection is not None and (connection.host or "").startswith("spark://") and is_cluster_mode(connection):
        instead = "remove deploy-mode from the extra: the driver runs in this task, executors on the cluster"
        msg = f"connection {CONNECTION}: a standalone Spark cluster does not run Python in cluster mode; {instead}"
        raise UsageError(msg)


def package_file(root: str, run: str, connection: Connection | None, scratch: Path) -> str:
    """Return where Spark gets the package from: the store, or a copy in `scratch`, which a driver on this machine hands out.

    An executor fetches it before it knows the driver's login of an object store, and is started again and again if it cannot.
    """
    from kafka_audit.airflow.tasks import audit_tasks  # noqa: PLC0415 -- not where DAG files are parsed: it imports the collector

    if "://" in root and not is_cluster_mode(connection):
        copy = scratch / pyfiles.NAME
        copy.write_bytes(pyfiles.package_zip())
        return str(copy)
    audit_tasks.write_package(run)
    return f"{url(root) if '://' in root else root}/{run_path(run, pyfiles.NAME)}"


def settings(connection: Connection | None, scratch: str | None = None) -> tuple[dict[str, str], dict[str, str] | None]:
    """Return Spark configuration and environment for a connection; `None` is the local default.

    Addresses and interpreters of this machine go only where the driver runs on it; a standalone cluster in cluster mode
    refuses environment variables altogether. What the connection's extra says under `conf` wins. `scratch` is for what a driver
    on this machine keeps on disk.

    Raises:
        UsageError: `conf` of the extra is no object.
    """
    extra: dict[str, Any] = {} if connection is None else connection.extra_dejson
    own = extra.get("conf") or {}
    if not isinstance(own, dict):
        msg = f'connection {CONNECTION}: conf in its extra must be an object, for example {{"spark.executor.cores": "2"}}'
        raise UsageError(msg)
    if is_local(connection):
        return submission.local_conf(scratch, is_own="spark-binary" not in extra) | own, submission.local_environment()
    if is_cluster_mode(connection):
        return {**submission.SUBMITTED, **own}, None
    return {**submission.SUBMITTED, "spark.pyspark.driver.python": sys.executable, **own}, None


def mask_secrets(conf: Mapping[str, object]) -> None:
    """Let Airflow hide the secrets of Spark configuration, such as the key of a store, in logs and rendered templates.

    The provider logs the whole command, and itself hides only values whose keys contain «secret» or «password».
    """
    for key, value in conf.items():
        if is_secret(key, str(value)):
            mask_secret(str(value))
