"""Every use of a private interface of Airflow, with the reason. All other modules use only public interfaces.

Airflow may change these in any release. `tests/packaging/test_public_airflow.py` holds other modules to the public ones,
and the tests of the callers show when one of these is gone. Imports are inside functions, so that each caller pays for its own.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
    from airflow.providers.smtp.hooks.smtp import SmtpHook

PROCESS_VARIABLES = ("_AIRFLOW_PROCESS_CONTEXT",)
"""By which Airflow's code knows that it runs in a task. Not public: without it, a task looks for connections in another place."""


def make_spark_hook(operator: "SparkSubmitOperator") -> None:
    """Make the hook of an operator now, while its connection is found in the environment.

    Not public: `SparkSubmitOperator._hook` and `_get_hook`. `execute` makes the hook otherwise, and starts Spark at once.
    """
    operator._hook = operator._get_hook()  # noqa: SLF001 -- see above


def two_part_mail(conn_id: str, text: str) -> "SmtpHook":
    """Return Airflow's mail hook, which also puts the plain text beside the HTML.

    Not public: `SmtpHook._build_mime_message`. The hook sends nothing but HTML, and its client is as private; a client of our own
    would have to repeat its TLS, logins and OAuth.
    """
    from airflow.providers.smtp.hooks.smtp import SmtpHook  # noqa: PLC0415 -- see above

    class TwoPartMail(SmtpHook):
        def _build_mime_message(self, *args: Any, **kwargs: Any) -> tuple[MIMEMultipart, list[str]]:  # noqa: ANN401 -- the parent's own
            mime, recipients = super()._build_mime_message(*args, **kwargs)
            parts: Any = mime.get_payload()
            html, *files = parts
            alternatives = MIMEMultipart("alternative")
            alternatives.attach(MIMEText(text, "plain", "utf-8"))
            alternatives.attach(html)
            mime.set_payload([alternatives, *files])
            return mime, recipients

    return TwoPartMail(smtp_conn_id=conn_id)


def export_gauges(gauges: Iterable[tuple[str, Mapping[str, str], float]], seconds: float) -> None:
    """Hand gauges, by name and labels, to Airflow's metrics, and export them at once.

    Not public: `airflow.sdk.observability`, which Airflow names in place of `airflow.stats`. Airflow exports once a minute and
    when a process ends, but not when that of a task ends, which takes less than a minute.
    """
    try:
        from airflow.sdk.observability.stats import Stats  # noqa: PLC0415 -- see above
    except ImportError:  # Airflow 3.1
        from airflow.stats import Stats  # noqa: PLC0415
    from opentelemetry.metrics import get_meter_provider  # noqa: PLC0415 -- see above

    for name, labels, number in gauges:
        Stats.gauge(name, number, tags=dict(labels))
    flush = getattr(get_meter_provider(), "force_flush", None)  # none where Airflow could not set up the export
    if flush is not None:
        flush(timeout_millis=seconds * 1000)


def runs_in_one_process() -> bool:
    """Return whether this task runs within `dag.test()`, on no worker of its queue.

    Not public: `task_runner.SUPERVISOR_COMMS`. The context and the task instance do not show where a task runs, and a probe from
    the wrong machine would be a wrong fact.
    """
    from airflow.sdk.execution_time import task_runner  # noqa: PLC0415 -- see above

    return type(getattr(task_runner, "SUPERVISOR_COMMS", None)).__name__ == "InProcessSupervisorComms"


def read_connections_from_database() -> None:
    """Let `Connection.get` outside a task find what the UI and `airflow connections add` store.

    Not public: the variable `_AIRFLOW_PROCESS_CONTEXT`, which Airflow's own commands set for it, too. To be called before
    Airflow is imported.
    """
    os.environ.setdefault("_AIRFLOW_PROCESS_CONTEXT", "server")


@dataclass(frozen=True, kw_only=True)
class PageSecurity:
    """Airflow's answers on the user who asks for a page.

    Attributes:
        get_user: FastAPI dependency that returns the user who is logged in, else answers 401.
        may_see_plugins: FastAPI dependency that answers 403 where the user may not see plugins.
        require_dag: of a request and a user; raises FastAPI's 403 where the user may not read the DAG.
        readable_dags: of a user, the ids of the DAGs that the user may read.
    """

    get_user: Callable[..., Any]
    may_see_plugins: Callable[..., Any]
    require_dag: Callable[[Any, Any], None]
    readable_dags: Callable[[Any], frozenset[str]]


def page_security(dag_id: str) -> PageSecurity | None:
    """Return how pages ask who may see them; None where this version of Airflow has none of it.

    Not public: `airflow.api_fastapi`. An app that a plugin mounts inherits no protection, and Airflow has no public dependency
    for its own logins.
    """
    try:
        from airflow.api_fastapi.app import get_auth_manager  # noqa: PLC0415 -- may be gone
        from airflow.api_fastapi.auth.managers.models.resource_details import AccessView  # noqa: PLC0415 -- too
        from airflow.api_fastapi.core_api.security import (  # noqa: PLC0415 -- too
            get_user,
            requires_access_dag,
            requires_access_view,
        )

        return PageSecurity(
            get_user=get_user,
            may_see_plugins=requires_access_view(AccessView.PLUGINS),
            require_dag=requires_access_dag("GET", param_dag_id=dag_id),
            readable_dags=lambda user: frozenset(get_auth_manager().get_authorized_dag_ids(user=user, method="GET")),
        )
    except (ImportError, AttributeError, TypeError):
        return None


@dataclass(frozen=True, kw_only=True)
class DagRunState:
    """A run of a DAG; `tasks` are (task id, its map index template or "", state), and `at` is when it began."""

    run_id: str
    state: str
    at: datetime | None
    tasks: list[tuple[str, str, str]]


def newest_run(dag_id: str) -> DagRunState | None:
    """Return the newest run of a DAG, None where there was none. For the API server alone: it asks Airflow's database.

    Not public: `airflow.models`. The REST API says the same, but would have to be called with the login of a user.
    """
    from airflow.models.dagrun import DagRun  # noqa: PLC0415 -- see above
    from airflow.models.taskinstance import TaskInstance  # noqa: PLC0415 -- see above
    from airflow.utils.session import create_session  # noqa: PLC0415 -- see above
    from sqlalchemy import select  # noqa: PLC0415 -- see above

    with create_session() as session:
        run = session.scalars(select(DagRun).where(DagRun.dag_id == dag_id).order_by(DagRun.run_after.desc()).limit(1)).first()
        if run is None:
            return None
        where = (TaskInstance.dag_id == dag_id, TaskInstance.run_id == run.run_id)
        tasks = [
            (task.task_id, str(task.rendered_map_index or "") if task.map_index >= 0 else "", str(task.state or ""))
            for task in session.scalars(select(TaskInstance).where(*where))
        ]
        return DagRunState(run_id=run.run_id, state=str(run.state), at=run.start_date, tasks=tasks)
