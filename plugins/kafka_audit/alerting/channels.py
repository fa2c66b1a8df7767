"""What a channel is: something that takes alert messages to people. Airflow's own are in `airflow.alert_channels`."""

from collections.abc import Callable
from dataclasses import dataclass

from kafka_audit.alerting.messages import AlertMessage


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A channel that sends messages.

    Attributes:
        name: of its dedupe state in the store.
        needs: what has to be set up for it.
        send: sends a message; raises `UsageError` where a setting is missing, else one of `failures`.
        target: returns the recipient, without secrets; None where the channel is not set up, and nothing is to be sent. Raises
            `UsageError` as `send` does.
        failures: what `send` raises when a message does not go out; `smtplib` and `urllib` raise kinds of OSError.
    """

    name: str
    needs: str
    send: Callable[[AlertMessage], None]
    target: Callable[[], str | None]
    failures: tuple[type[Exception], ...] = (OSError,)
