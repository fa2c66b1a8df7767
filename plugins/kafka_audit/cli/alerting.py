"""`alert-test`: whether an alert would arrive, by the DAG's own channels and connections."""

import argparse
import os

from kafka_audit.cli import console
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import clean

NOT_DELIVERED = 3
_LONGEST_ERROR = 500


def alert_test(_arguments: argparse.Namespace) -> int:
    """Send a test message through every channel that has a connection; print a line for each channel.

    Raises:
        UsageError: Airflow is not installed here, or no channel has a connection.
    """
    # Outside a task, Airflow looks for connections in its database only for a process that says it may.
    os.environ.setdefault("_AIRFLOW_PROCESS_CONTEXT", "server")
    # Airflow logs to stdout, and Slack's client logs the secret address of a webhook that it tries again.
    os.environ["AIRFLOW__LOGGING__LOGGING_LEVEL"] = "CRITICAL"
    try:
        from kafka_audit.airflow_glue import channels, testing  # noqa: PLC0415 -- the console needs no Airflow otherwise
    except ImportError as error:
        msg = f"alerts go out through Airflow, and it is not installed here ({error}); run this where Airflow runs"
        raise UsageError(msg) from None
    outcomes = [testing.try_out(channel) for channel in channels.every_channel()]
    console.emit("\n".join(clean(outcome.text, _LONGEST_ERROR) for outcome in outcomes))
    if not any(outcome.configured for outcome in outcomes):
        msg = f"no alert would reach anybody: make an Airflow connection {channels.MAIL} or {channels.SLACK} (docs/alerts.md)"
        raise UsageError(msg)
    if any(outcome.incomplete for outcome in outcomes):
        return UsageError.exit_code
    return NOT_DELIVERED if any(outcome.configured and not outcome.delivered for outcome in outcomes) else 0
