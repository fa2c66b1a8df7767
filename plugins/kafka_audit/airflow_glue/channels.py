"""The ways by which alerts go out: a mail over the connection `kafka_audit_smtp`, a post over `kafka_audit_slack`, and more.

What KAFKA_AUDIT_NOTIFIERS names is a channel, too. A channel without its connection is none. Texts are sent as they are: calling
Airflow's notifiers would render them as Jinja, and these quote what a cluster said.
"""

import importlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from pathlib import Path
from typing import Any

from airflow.providers.slack.notifications.slack_webhook import SlackWebhookNotifier
from airflow.providers.smtp.hooks.smtp import SmtpHook
from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowException

from kafka_audit.airflow_glue import alerts, connections
from kafka_audit.airflow_glue.alerts import Alert
from kafka_audit.model.errors import UsageError
from kafka_audit.report import formats

MAIL = "kafka_audit_smtp"
SLACK = "kafka_audit_slack"
NOTIFIERS = "KAFKA_AUDIT_NOTIFIERS"

NOT_DELIVERED = (OSError, AirflowException, RuntimeError, ValueError)
"""What the providers raise when a message does not go out; `smtplib` and `urllib` raise kinds of OSError."""


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A way to somebody.

    Attributes:
        name: of its memory in the store.
        wants: what makes it a way, for whoever has none.
        send: sends an alert; raises `UsageError` where a setting is missing, else one of `NOT_DELIVERED`.
        target: says whom it reaches, without secrets; None where it is not set up, and nothing is to be sent. Raises
            `UsageError` as `send` does.
    """

    name: str
    wants: str
    send: Callable[[Alert], None]
    target: Callable[[], str | None]


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
    with tempfile.TemporaryDirectory() as folder, _TwoParts(alerts.text(alert)) as smtp:
        smtp.send_email_smtp(
            to=extra["to"],
            from_email=extra["from_email"],
            subject=alerts.subject(alert),
            html_content=alerts.mail(alert),
            custom_headers=headers,
            files=_attached(alert, Path(folder)),
        )


def _attached(alert: Alert, folder: Path) -> list[str]:
    """Write the whole report as one page, named after its snapshot."""
    if alert.document is None:
        return []
    file = folder / f"{alert.document['snapshot_id']}.html"
    file.write_text(formats.FILES["html"](alert.document), encoding="utf-8")
    return [str(file)]


def _mail_extra(connection: Connection | None) -> dict[str, Any]:
    extra: dict[str, Any] = {} if connection is None else connection.extra_dejson
    if missing := [key for key in ("to", "from_email") if not extra.get(key)]:
        msg = f"connection {MAIL}: its extra lacks {' and '.join(missing)}, so no mail can be sent"
        raise UsageError(msg)
    return extra


def _mail_target() -> str | None:
    connection = connections.find(MAIL)
    return None if connection is None else f"{_mail_extra(connection)['to']} over {connection.host}:{connection.port}"


def _slack(alert: Alert) -> None:
    notifier: Any = SlackWebhookNotifier(
        slack_webhook_conn_id=SLACK, text=alerts.slack(alert), unfurl_links=False, unfurl_media=False
    )
    notifier.notify({})


def _slack_target() -> str | None:
    connection = connections.find(SLACK)
    if connection is None:
        return None
    return f"the incoming webhook at {connection.host or 'Slack'}"  # the rest of the address is the secret


BY_MAIL = Channel(name="mail", wants=f"Airflow connection {MAIL}", send=_mail, target=_mail_target)
BY_SLACK = Channel(name="slack", wants=f"Airflow connection {SLACK}", send=_slack, target=_slack_target)


def every_channel() -> tuple[Channel, ...]:
    """Return all channels; raises `UsageError` where KAFKA_AUDIT_NOTIFIERS cannot be read."""
    return (BY_MAIL, BY_SLACK, *further())


def further() -> tuple[Channel, ...]:
    """Return a channel for each notifier of KAFKA_AUDIT_NOTIFIERS; raises `UsageError` where that cannot be read."""
    text = os.environ.get(NOTIFIERS) or "[]"
    try:
        entries = [dict(entry) for entry in json.loads(text)]
        paths = [str(entry.pop("notifier")) for entry in entries]
    except (ValueError, TypeError, KeyError, RecursionError):
        msg = (
            f'{NOTIFIERS} is no list like [{{"notifier": "package.module.Class", "argument": "{{subject}}"}}]; see docs/alerts.md'
        )
        raise UsageError(msg) from None
    return tuple(_further(number, *one) for number, one in enumerate(zip(paths, entries, strict=True), start=1))


def _further(number: int, path: str, arguments: Mapping[str, Any]) -> Channel:
    name = path.rpartition(".")[2]

    def send(alert: Alert) -> None:
        module, _, attribute = path.rpartition(".")
        try:
            notifier = getattr(importlib.import_module(module or "airflow"), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            msg = f"{NOTIFIERS}: {path} cannot be imported ({error})"
            raise UsageError(msg) from None
        notifier(**{key: _filled(value, alert) for key, value in arguments.items()}).notify({})

    return Channel(name=f"{name.lower()}-{number}", wants=NOTIFIERS, send=send, target=lambda: f"{name} of {NOTIFIERS}")


def _filled(value: Any, alert: Alert) -> Any:  # noqa: ANN401 -- whatever a notifier takes
    """Put an alert into the placeholders of an argument; nothing that a cluster said is filled again."""
    if isinstance(value, dict):
        return {key: _filled(one, alert) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, alert) for one in value]
    if not isinstance(value, str):
        return value
    words = {"subject": alerts.subject(alert), "text": alerts.text(alert), "key": alert.key, "action": alert.action}
    return re.sub(r"\{(subject|text|key|action)\}", lambda match: words[match[1]], value)
