"""Which failures of an audit's steps are retried.

A cluster that does not answer is no error: the failed reads are rows of its snapshot. Retries help only if the store or the
network is unavailable for a moment. They do not help if the cluster file is wrong or rights are missing, and would add load.
"""

from datetime import timedelta
from typing import Any

from kafka_audit.model.errors import AuditError, StoreBusyError

_RETRIES = 2


def _policies() -> tuple[Any, Any]:
    try:
        from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule  # noqa: PLC0415 -- Airflow 3.2 has none
    except ImportError:
        return None, None
    hiccup = RetryRule(
        exception=[StoreBusyError, OSError],
        action=RetryAction.RETRY,
        retry_delay=timedelta(seconds=30),
        reason="store or network",
    )
    useless = RetryRule(exception=AuditError, action=RetryAction.FAIL, reason="no snapshot to compare")
    return ExceptionRetryPolicy(rules=[hiccup], default=RetryAction.FAIL), ExceptionRetryPolicy(rules=[hiccup, useless])


STORE_HICCUPS, SPARK_HICCUPS = _policies()
"""Policies; None in Airflow 3.2. The cause of a Spark failure is unknown here, so the second one retries it."""


def retried(policy: Any) -> dict[str, Any]:  # noqa: ANN401 -- Airflow's own, or None
    """Return arguments of a task that is retried by a policy. Without policies it is not retried: the next audit is near."""
    return {"retries": 0} if policy is None else {"retries": _RETRIES, "retry_policy": policy}
