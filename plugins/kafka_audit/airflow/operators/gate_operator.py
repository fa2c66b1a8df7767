"""The decorator of the task that lets a cluster pass or fail: a Python task with a button that leads to the report."""

from collections.abc import Callable
from typing import Any

from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk.bases.decorator import DecoratedOperator, TaskDecorator, task_decorator_factory

from kafka_audit.airflow.page.links import AuditReport


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
