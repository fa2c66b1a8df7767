"""The notifier: the alerts of an audit, through every channel of the deployment.

DAG files import it, so what it does is imported when it is called.
"""

from airflow.sdk import BaseNotifier, Context

from kafka_audit.airflow.page import links
from kafka_audit.model.errors import UsageError

_SUCCESS = "success"


class KafkaAuditNotifier(BaseNotifier):
    """Sends what the end of an audit calls for: new, worse and resolved incidents, and clusters that were not audited.

    For tasks of `KafkaAuditOperator` and `@task.kafka_audit`, as `on_failure_callback` and as `on_success_callback`: the end of
    an incident is an alert, too. Recipients, and what was sent, are those of the DAG `kafka_audit`, so an incident that both
    audits find is one message.
    """

    def notify(self, context: Context) -> None:
        """Send to each channel; one that fails keeps no other from its message.

        Raises:
            UsageError: the task is no audit.
            ExceptionGroup: of what did not go out.
        """
        from kafka_audit.airflow.alerts import alert_channels, task_alerts  # noqa: PLC0415 -- see above

        instance = context["ti"]
        alone = getattr(context.get("task"), "is_an_audit", False)
        if not alone and instance.dag_id not in links.AUDITS:
            msg = f"{instance.dag_id}.{instance.task_id} is not an audit: KafkaAuditNotifier is for tasks of KafkaAuditOperator"
            raise UsageError(msg)
        # The task of a process that was killed has no state here.
        failed = getattr(instance, "state", None) != _SUCCESS
        task_alerts.send_to_each(alert_channels.every_channel(), context, failed=failed, alone=alone)
