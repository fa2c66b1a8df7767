"""Callbacks of the DAG's tasks, for a success as for a failure, because the end of an incident is an alert too.

The DAG file is parsed every 30 seconds and names them: what they do is imported when they are called.
"""

from collections.abc import Mapping
from typing import Any

WHY = "why"
WHY_CHARS = 190  # an XCom is a row of Airflow's database


def why_of(cluster: str) -> str:
    """Return the key under which a task for all clusters leaves why one of them comes to no report."""
    return f"{WHY}_{cluster}"


def by_mail(context: Mapping[str, Any]) -> None:
    """Send the alerts on a failure to the addresses in the extra `to` of the connection `kafka_audit_smtp`, if there is one."""
    from kafka_audit.airflow import alert_channels, alerts  # noqa: PLC0415 -- see above

    alerts.send_alert(alert_channels.BY_MAIL, context, failed=True)


def by_slack(context: Mapping[str, Any]) -> None:
    """Send the alerts on a failure to the incoming webhook of the connection `kafka_audit_slack`, if there is one."""
    from kafka_audit.airflow import alert_channels, alerts  # noqa: PLC0415 -- see above

    alerts.send_alert(alert_channels.BY_SLACK, context, failed=True)


def end_by_mail(context: Mapping[str, Any]) -> None:
    """Mail the end of what a success ends."""
    from kafka_audit.airflow import alert_channels, alerts  # noqa: PLC0415 -- see above

    alerts.send_alert(alert_channels.BY_MAIL, context, failed=False)


def end_by_slack(context: Mapping[str, Any]) -> None:
    """Post the end of what a success ends."""
    from kafka_audit.airflow import alert_channels, alerts  # noqa: PLC0415 -- see above

    alerts.send_alert(alert_channels.BY_SLACK, context, failed=False)


def by_others(context: Mapping[str, Any]) -> None:
    """Hand the alerts on a failure to the notifiers of KAFKA_AUDIT_NOTIFIERS."""
    from kafka_audit.airflow import alert_channels, alerts  # noqa: PLC0415 -- see above

    alerts.send_to_each(alert_channels.notifiers(), context, failed=True)


def end_by_others(context: Mapping[str, Any]) -> None:
    """Hand the end of what a success ends to the notifiers of KAFKA_AUDIT_NOTIFIERS."""
    from kafka_audit.airflow import alert_channels, alerts  # noqa: PLC0415 -- see above

    alerts.send_to_each(alert_channels.notifiers(), context, failed=False)


def note(context: Mapping[str, Any]) -> None:
    """Leave the reason of a failure for the alerts of the gates, which run in other processes."""
    from kafka_audit.airflow import alerts  # noqa: PLC0415 -- see above
    from kafka_audit.model.text import clean  # noqa: PLC0415 -- see above

    context["ti"].xcom_push(key=WHY, value=clean(alerts.failure_reason(context), WHY_CHARS))
