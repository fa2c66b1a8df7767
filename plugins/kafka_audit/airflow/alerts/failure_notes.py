"""Why a task failed, and the note of it that the alerts of the gates read: they run in other processes."""

from collections.abc import Mapping
from typing import Any

from kafka_audit.airflow import xcom_keys
from kafka_audit.airflow.errors import GateFailed
from kafka_audit.model.text import our_line, without_logins


def note_failure(context: Mapping[str, Any]) -> None:
    """Leave the reason of a failure; the callback of tasks before the gates."""
    context["ti"].xcom_push(key=xcom_keys.WHY, value=our_line(failure_reason(context), xcom_keys.WHY_CHARS))


def failure_reason(context: Mapping[str, Any]) -> str:
    """Return why a task failed; logins in URLs are masked."""
    return without_logins(_failure_reason(context))


def _failure_reason(context: Mapping[str, Any]) -> str:
    exception = context.get("exception")
    if isinstance(exception, GateFailed):
        return exception.headline
    if isinstance(exception, BaseException):
        return f"task {context['ti'].task_id} failed: {exception or type(exception).__name__}"
    return f"task {context['ti'].task_id} failed: {exception or 'its process died'}"
