"""`@task.kafka_audit`: a function returns what to audit, as one of `@task.bash` returns a command."""

from collections.abc import Callable, Mapping
from typing import Any

from airflow.sdk import Context
from airflow.sdk.bases.decorator import DecoratedOperator, TaskDecorator, task_decorator_factory

try:
    from airflow.sdk.bases.decorator import determine_kwargs
except ImportError:  # Airflow 3.1
    from airflow.utils.operator_helpers import determine_kwargs  # type: ignore[attr-defined]

from kafka_audit.airflow.operators.audit_operator import KafkaAuditOperator

_OPTIONS = ("cluster", "fail_on", "min_coverage", "baseline")


class DecoratedAuditOperator(DecoratedOperator, KafkaAuditOperator):
    """Audits the cluster whose name, or whose options, a function returns."""

    custom_operator_name = "@task.kafka_audit"
    template_fields = (*DecoratedOperator.template_fields, *KafkaAuditOperator.template_fields)
    overwrite_rtif_after_execution = True  # the UI then shows what the function returned

    def __init__(self, *, cluster: str = "", **kwargs: Any) -> None:  # noqa: ANN401 -- those of both parents
        """Take the function and its arguments; the function names the cluster."""
        super().__init__(cluster=cluster, **kwargs)

    def execute(self, context: Context) -> Any:  # noqa: ANN401 -- the parent's own
        """Call the function, audit; errors are those of `KafkaAuditOperator`.

        Raises:
            TypeError: the function returned neither a name nor options with one.
        """
        arguments = determine_kwargs(self.python_callable, self.op_args, {**context, **self.op_kwargs})
        returned = self.python_callable(*self.op_args, **arguments)
        options = dict(returned) if isinstance(returned, Mapping) else {"cluster": returned}
        if not isinstance(options.get("cluster"), str) or not options["cluster"] or not options.keys() <= set(_OPTIONS):
            msg = f"a function of @task.kafka_audit returns the name of a cluster, or a mapping of {', '.join(_OPTIONS)}"
            raise TypeError(msg)
        for name, value in options.items():
            setattr(self, name, value)
        return super().execute(context)


def kafka_audit_task(python_callable: Callable[..., Any] | None = None, **kwargs: Any) -> TaskDecorator:  # noqa: ANN401 -- those of `@task`
    """Make an audit of a function that returns the name of a cluster, or a mapping of options of `KafkaAuditOperator`."""
    arguments = {"multiple_outputs": False} | kwargs  # a summary is one XCom, whatever the function's annotation is
    return task_decorator_factory(python_callable=python_callable, decorated_operator_class=DecoratedAuditOperator, **arguments)
