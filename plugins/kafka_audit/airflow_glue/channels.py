"""The ways by which alerts go out: a mail over the connection `kafka_audit_smtp`, a post over `kafka_audit_slack`.

A channel without its connection is none. Texts are sent as they are: calling Airflow's notifiers would render them as Jinja, and
these quote what a cluster said.
"""

from collections.abc import Callable
from dataclasses import dataclass
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import Any

from airflow.providers.slack.notifications.slack_webhook import SlackWebhookNotifier
from airflow.providers.smtp.hooks.smtp import SmtpHook
from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowException

from kafka_audit.airflow_glue import alerts, connections
from kafka_audit.airflow_glue.alerts import Alert
from kafka_audit.model.errors import UsageError

MAIL = "kafka_audit_smtp"
SLACK = "kafka_audit_slack"

NOT_DELIVERED = (OSError, AirflowException, RuntimeError, ValueError)
"""What the providers raise when a message does not go out; `smtplib` and `urllib` raise kinds of OSError."""


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A way to somebody.

    Attributes:
        name: of its memory in the store.
        connection: id of the Airflow connection.
        send: sends an alert; raises `UsageError` for a connection that lacks something, else one of `NOT_DELIVERED`.
        to: says whom a connection reaches, without its secrets.
    """

    name: str
    connection: str
    send: Callable[[Alert], None]
    to: Callable[[Connection], str]

    def find(self) -> Connection | None:
        """Return the connection, None where there is none and nothing is to be sent."""
        return connections.find(self.connection)


class _TwoParts(SmtpHook):
    """Airflow's hook sends nothing but HTML; this one puts the plain text beside it."""

    def __init__(self, text: str) -> None:
        super().__init__(smtp_conn_id=MAIL)
        self._text = text

    def _build_mime_message(self, *args: Any, **kwargs: Any) -> tuple[MIMEMultipart, list[str]]:  # noqa: ANN401 -- the parent's own
        message, recipients = super()._build_mime_message(*args, **kwargs)
        parts: Any = message.get_payload()
        rich, *files = parts
        both = MIMEMultipart("alternative")
        both.attach(MIMEText(self._text, "plain", "utf-8"))
        both.attach(rich)
        message.set_payload([both, *files])
        return message, recipients


def _mail(alert: Alert) -> None:
    extra = _mail_extra(connections.find(MAIL))
    thread = f"<kafka-audit.{alert.key}@kafka-audit>"
    headers = {"Message-ID": thread} if alert.first else {"In-Reply-To": thread, "References": thread}
    with _TwoParts(alerts.text(alert)) as smtp:
        smtp.send_email_smtp(
            to=extra["to"],
            from_email=extra["from_email"],
            subject=alerts.subject(alert),
            html_content=alerts.mail(alert),
            custom_headers=headers,
        )


def _mail_extra(connection: Connection | None) -> dict[str, Any]:
    extra: dict[str, Any] = {} if connection is None else connection.extra_dejson
    if missing := [key for key in ("to", "from_email") if not extra.get(key)]:
        msg = f"connection {MAIL}: its extra lacks {' and '.join(missing)}, so no mail can be sent"
        raise UsageError(msg)
    return extra


def _mail_to(connection: Connection) -> str:
    return f"{_mail_extra(connection)['to']} over {connection.host}:{connection.port}"


def _slack(alert: Alert) -> None:
    notifier: Any = SlackWebhookNotifier(
        slack_webhook_conn_id=SLACK, text=alerts.slack(alert), unfurl_links=False, unfurl_media=False
    )
    notifier.notify({})


def _slack_to(connection: Connection) -> str:
    return f"the incoming webhook at {connection.host or 'Slack'}"  # the rest of the address is the secret


BY_MAIL = Channel(name="mail", connection=MAIL, send=_mail, to=_mail_to)
BY_SLACK = Channel(name="slack", connection=SLACK, send=_slack, to=_slack_to)
CHANNELS = (BY_MAIL, BY_SLACK)
