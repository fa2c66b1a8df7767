"""Callbacks of the DAG's tasks. The DAG file is parsed every 30 seconds and names them, so imports are in the callback."""

from collections.abc import Mapping
from typing import Any

from kafka_audit.airflow import xcom_keys


def note(context: Mapping[str, Any]) -> None:
    """Leave the reason of a failure for the alerts of the gates, which run in other processes."""
    from kafka_audit.airflow import alerts  # noqa: PLC0415 -- see above
    from kafka_audit.model.text import clean  # noqa: PLC0415 -- see above

    context["ti"].xcom_push(key=xcom_keys.WHY, value=clean(alerts.failure_reason(context), xcom_keys.WHY_CHARS))
