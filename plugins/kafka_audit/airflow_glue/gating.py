"""The decorator of the task that lets a cluster pass or fail: a Python task with a button that leads to the report."""

from collections.abc import Callable
from typing import Any

from airflow.providers.standard.decorators.python import _PythonDecoratedOperator
from airflow.sdk.bases.decorator import TaskDecorator, task_decorator_factory

from kafka_audit.airflow_glue.page.links import AuditReport


class GateOperator(_PythonDecoratedOperator):
    """A Python task with the link; links hang on operator classes, and not on tasks."""

    custom_operator_name = "gate"
    operator_extra_links = (AuditReport(),)


def gate_task(function: Callable[..., Any] | None = None, **arguments: Any) -> TaskDecorator:  # noqa: ANN401 -- those of `@task`
    """Make a task of a function, as `@task` does."""
    return task_decorator_factory(python_callable=function, decorated_operator_class=GateOperator, **arguments)
