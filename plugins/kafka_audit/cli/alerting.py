"""`alert-test`: whether an alert would arrive, by the DAG's own channels and connections."""

import argparse
import os

from kafka_audit.airflow import internals
from kafka_audit.alerting import delivery
from kafka_audit.cli.printing import console
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import our_line

NOT_DELIVERED = 3
_LONGEST_ERROR = 500


def alert_test_command(_arguments: argparse.Namespace) -> int:
    """Send a test message through every channel that has a connection; print a line for each channel.

    Raises:
        UsageError: Airflow is not installed here, or no channel has a connection.
    """
    internals.read_connections_from_database()
    # Airflow logs to stdout, and Slack's client logs the secret address of a webhook that it tries again.
    os.environ["AIRFLOW__LOGGING__LOGGING_LEVEL"] = "CRITICAL"
    try:
        from kafka_audit.airflow.alerts import alert_channels  # noqa: PLC0415 -- the console needs no Airflow otherwise
    except ImportError as error:
        msg = f"alerts require Airflow, which is not installed here ({error}); run the command on an Airflow worker"
        raise UsageError(msg) from None
    tests = [delivery.send_test_message(channel) for channel in alert_channels.every_channel()]
    console.write_result("\n".join(our_line(test.text, _LONGEST_ERROR) for test in tests))
    if not any(test.configured for test in tests):
        connections = f"{alert_channels.MAIL} or {alert_channels.SLACK}"
        msg = f"no channel is configured; create an Airflow connection {connections} (docs/alerts.md)"
        raise UsageError(msg)
    if any(test.incomplete for test in tests):
        return UsageError.exit_code
    return NOT_DELIVERED if any(test.configured and not test.delivered for test in tests) else 0
