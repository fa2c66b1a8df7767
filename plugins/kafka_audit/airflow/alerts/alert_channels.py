"""Channels of alerts: mail over the connection `kafka_audit_smtp`, Slack over `kafka_audit_slack`, notifiers of other providers.

The notifiers are those of KAFKA_AUDIT_NOTIFIERS. A channel without its connection is not used. Texts are sent as they are:
calling Airflow's notifiers would render them as Jinja, and these quote what a cluster said.
"""

import importlib
import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from airflow.providers.slack.notifications.slack_webhook import SlackWebhookNotifier
from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowException

from kafka_audit.airflow import environment, internals
from kafka_audit.airflow.connections import cluster_connection
from kafka_audit.alerting import rendering
from kafka_audit.alerting.delivery import Channel
from kafka_audit.alerting.messages import AlertMessage
from kafka_audit.alerting.rendering import Markup
from kafka_audit.model.errors import UsageError
from kafka_audit.report import formats

MAIL = "kafka_audit_smtp"
SLACK = "kafka_audit_slack"
NOTIFIERS = "KAFKA_AUDIT_NOTIFIERS"

_FAILURES = (OSError, AirflowException, RuntimeError, ValueError)
"""What the providers raise when a message does not go out."""


def _send_mail(message: AlertMessage) -> None:
    extra = _mail_extra(cluster_connection.find_connection(MAIL))
    thread = f"<kafka-audit.{message.key}@kafka-audit>"
    headers = {"Message-ID": thread} if message.first else {"In-Reply-To": thread, "References": thread}
    with tempfile.TemporaryDirectory() as folder, internals.two_part_mail(MAIL, rendering.plain_text(message)) as smtp:
        smtp.send_email_smtp(
            to=extra["to"],
            from_email=extra["from_email"],
            subject=rendering.subject(message),
            html_content=rendering.html_mail(message),
            custom_headers=headers,
            files=_attached(message, Path(folder)),
        )


def _attached(message: AlertMessage, folder: Path) -> list[str]:
    """Write the whole report as one page, named after its snapshot."""
    if message.document is None:
        return []
    file = folder / f"{message.document.snapshot_id}.html"
    file.write_text(formats.FILES["html"](message.document), encoding="utf-8")
    return [str(file)]


def _mail_extra(connection: Connection | None) -> dict[str, Any]:
    extra: dict[str, Any] = {} if connection is None else connection.extra_dejson
    if missing := [key for key in ("to", "from_email") if not extra.get(key)]:
        msg = f"connection {MAIL}: its extra must contain {' and '.join(missing)}"
        raise UsageError(msg)
    return extra


def _mail_target() -> str | None:
    connection = cluster_connection.find_connection(MAIL)
    return None if connection is None else f"{_mail_extra(connection)['to']} over {connection.host}:{connection.port}"


def _send_slack(message: AlertMessage) -> None:
    notifier: Any = SlackWebhookNotifier(
        slack_webhook_conn_id=SLACK, text=rendering.slack(message), unfurl_links=False, unfurl_media=False
    )
    notifier.notify({})


def _slack_target() -> str | None:
    connection = cluster_connection.find_connection(SLACK)
    if connection is None:
        return None
    return f"the incoming webhook at {connection.host or 'Slack'}"  # the rest of the address is the secret


BY_MAIL = Channel(name="mail", needs=f"Airflow connection {MAIL}", send=_send_mail, target=_mail_target, failures=_FAILURES)
BY_SLACK = Channel(name="slack", needs=f"Airflow connection {SLACK}", send=_send_slack, target=_slack_target, failures=_FAILURES)


def every_channel() -> tuple[Channel, ...]:
    """Return all channels; if KAFKA_AUDIT_NOTIFIERS cannot be read, it is one channel that says so, and the others stay."""
    try:
        further = notifiers()
    except UsageError as error:
        further = (_unreadable(error),)
    return (BY_MAIL, BY_SLACK, *further)


def _unreadable(error: UsageError) -> Channel:
    def refuse(*_: object) -> NoReturn:
        raise error

    return Channel(name="notifiers", needs=NOTIFIERS, send=refuse, target=refuse)


def notifiers() -> tuple[Channel, ...]:
    """Return a channel for each notifier of KAFKA_AUDIT_NOTIFIERS; raises `UsageError` where that cannot be read."""
    text = environment.notifier_list()
    try:
        entries = [dict(entry) for entry in json.loads(text)]
        paths = [str(entry.pop("notifier")) for entry in entries]
    except (ValueError, TypeError, KeyError, RecursionError):
        example = '[{"notifier": "package.module.Class", "argument": "{subject}"}]'
        msg = f"{NOTIFIERS} is not a list like {example}; see docs/alerts.md"
        raise UsageError(msg) from None
    return tuple(
        _notifier(number, path, arguments) for number, (path, arguments) in enumerate(zip(paths, entries, strict=True), start=1)
    )


def _notifier(number: int, path: str, arguments: Mapping[str, Any]) -> Channel:
    name = path.rpartition(".")[2]

    def send(message: AlertMessage) -> None:
        module, _, attribute = path.rpartition(".")
        try:
            notifier = getattr(importlib.import_module(module or "airflow"), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            msg = f"{NOTIFIERS}: {path} cannot be imported ({error})"
            raise UsageError(msg) from None
        filled = {
            key: _filled(value, rendering.placeholders(message, markup(path, key, arguments))) for key, value in arguments.items()
        }
        notifier(**filled).notify({})

    return Channel(
        name=f"{name.lower()}-{number}",
        needs=NOTIFIERS,
        send=send,
        target=lambda: f"{name} of {NOTIFIERS}",
        failures=_FAILURES,
    )


_MARKDOWN = ("discord", "mattermost", "teams", "telegram")


def markup(path: str, argument: str, arguments: Mapping[str, Any]) -> Markup:
    """Return what an argument of a notifier is shown as, by its name, the format that another one sets, and the package."""
    form = str(arguments.get("body_format", "")).lower()
    if "html" in argument.lower() or form == "html":
        return Markup.HTML
    if form == "markdown":
        return Markup.MARKDOWN
    package = path.lower()
    if "slack" in package:
        return Markup.SLACK
    return Markup.MARKDOWN if any(name in package for name in _MARKDOWN) else Markup.NONE


def _filled(value: Any, placeholders: Mapping[str, str]) -> Any:  # noqa: ANN401 -- whatever a notifier takes
    """Put a message into the placeholders of an argument; what a cluster said is not filled again."""
    if isinstance(value, dict):
        return {key: _filled(inner, placeholders) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, placeholders) for inner in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"\{(subject|text|key|action)\}", lambda match: placeholders[match[1]], value)
