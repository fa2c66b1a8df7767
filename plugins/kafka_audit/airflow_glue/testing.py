"""Try out a channel with a message that says so."""

import secrets
import socket
from dataclasses import dataclass

from kafka_audit.airflow_glue.alerts import Alert
from kafka_audit.airflow_glue.channels import NOT_DELIVERED, Channel
from kafka_audit.model.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a test message, in one line, and whether the channel has a connection, a whole one, and took it."""

    text: str
    configured: bool = True
    incomplete: bool = False
    delivered: bool = False


def try_out(channel: Channel) -> Outcome:
    """Send a test message."""
    try:
        target = channel.target()
    except UsageError as error:
        return Outcome(text=f"{channel.name}: {error}", incomplete=True)
    if target is None:
        return Outcome(text=f"{channel.name}: not used, there is no {channel.wants}", configured=False)
    number = secrets.token_hex(3)
    alert = Alert(
        key=number,
        first=True,
        subject=f"[TEST] kafka-audit: alerts from {socket.gethostname()} arrive, test {number}",
        facts=("Sent by `kafka-audit alert-test`. No cluster was audited.",),
    )
    try:
        channel.send(alert)
    except UsageError as error:
        return Outcome(text=f"{channel.name}: {error}", incomplete=True)
    except NOT_DELIVERED as error:
        return Outcome(text=f"{channel.name}: not delivered to {target}: {error or type(error).__name__}")
    return Outcome(text=f"{channel.name}: test {number} was taken for {target}", delivered=True)
