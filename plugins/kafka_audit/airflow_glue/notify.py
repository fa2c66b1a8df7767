"""Send an alert over the connections that exist: `kafka_audit_smtp` mails, `kafka_audit_slack` posts.

Callbacks for `on_failure_callback`. Each builds a notifier of its own and calls `notify` directly: calling the notifier
itself would render its texts as Jinja, and these quote what a cluster said.
"""

from collections.abc import Mapping
from typing import Any

from airflow.providers.slack.notifications.slack_webhook import SlackWebhookNotifier
from airflow.providers.smtp.notifications.smtp import SmtpNotifier

from kafka_audit.airflow_glue import alerts, connections
from kafka_audit.model.errors import UsageError

MAIL = "kafka_audit_smtp"
SLACK = "kafka_audit_slack"


def by_mail(context: Mapping[str, Any]) -> None:
    """Mail the failure to the addresses in the extra `to` of the connection `kafka_audit_smtp`, if there is one.

    Raises:
        UsageError: the connection lacks `to` or `from_email`; Airflow logs it with the task.
    """
    connection = connections.find(MAIL)
    if connection is None:
        return
    extra = connection.extra_dejson
    if missing := [key for key in ("to", "from_email") if not extra.get(key)]:
        msg = f"connection {MAIL} exists, but its extra lacks {' and '.join(missing)}: no mail was sent"
        raise UsageError(msg)
    alert = _alert(context)
    SmtpNotifier(
        to=extra["to"],
        from_email=extra["from_email"],
        subject=alerts.subject(alert),
        html_content=alerts.mail(alert),
        smtp_conn_id=MAIL,
    ).notify({})


def by_slack(context: Mapping[str, Any]) -> None:
    """Post the failure to the incoming webhook of the connection `kafka_audit_slack`, if there is one."""
    if connections.find(SLACK) is None:
        return
    text = alerts.slack(_alert(context))
    notifier: Any = SlackWebhookNotifier(slack_webhook_conn_id=SLACK, text=text, unfurl_links=False, unfurl_media=False)
    notifier.notify({})


def _alert(context: Mapping[str, Any]) -> alerts.Alert:
    instance = context["ti"]
    return alerts.of_failure(context.get("exception"), task=instance.task_id, log_url=instance.log_url)
