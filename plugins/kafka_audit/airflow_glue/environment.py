"""What a deployment says through environment variables; read when asked, so that every process sees its own.

| variable | meaning | default |
|---|---|---|
| KAFKA_AUDIT_CLUSTERS | cluster file | $AIRFLOW_HOME/clusters.yaml |
| KAFKA_AUDIT_STORE | root of snapshots and reports, a path or URL | $AIRFLOW_HOME/kafka-audit-store |
| KAFKA_AUDIT_SCHEDULE | cron expression, or `none` | every 15 minutes |
| KAFKA_AUDIT_FAIL_ON | severity from which a gate fails | high |
| KAFKA_AUDIT_MIN_COVERAGE | share of asked reads that must be answered | 1.0 |
| KAFKA_AUDIT_NOTIFIERS | further notifiers for alerts, JSON; see docs/alerts.md | none |
| KAFKA_AUDIT_REMIND_HOURS | after how long an open incident is told again; 0: never | 24 |
| KAFKA_AUDIT_APPROVAL_HOURS | after how long a change that nobody approved is rejected | 24 |
| KAFKA_AUDIT_SPARK_MEMORY | heap of the Spark driver and of each executor | 2g |
"""

import os
from datetime import timedelta
from pathlib import Path

from kafka_audit.model.errors import UsageError

EVERY_15_MINUTES = "*/15 * * * *"
REPORT_TAB = "findings"
"""Name in the address of the page that the plugin puts beside each DAG run."""
MOST_HOURS = 8760


def _home() -> Path:
    return Path(os.environ.get("AIRFLOW_HOME") or "~/airflow").expanduser().absolute()


def clusters_file() -> str:
    """Return the path of the cluster file."""
    return os.environ.get("KAFKA_AUDIT_CLUSTERS") or str(_home() / "clusters.yaml")


def store_root() -> str:
    """Return the root of the store: a URL as it is, a path made absolute, because Spark may run elsewhere."""
    root = os.environ.get("KAFKA_AUDIT_STORE") or str(_home() / "kafka-audit-store")
    return root.rstrip("/") if "://" in root else str(Path(root).expanduser().absolute())


def schedule() -> str | None:
    """Return the DAG's cron expression, None for a DAG that only runs when it is triggered."""
    wanted = os.environ.get("KAFKA_AUDIT_SCHEDULE") or EVERY_15_MINUTES
    return None if wanted.lower() == "none" else wanted


def fail_on() -> str:
    """Return the name of the severity from which a gate fails."""
    return os.environ.get("KAFKA_AUDIT_FAIL_ON") or "high"


def min_coverage() -> float:
    """Return the share of asked reads, 0 to 1, below which a gate fails.

    Raises:
        UsageError: the variable holds no number between 0 and 1.
    """
    text = os.environ.get("KAFKA_AUDIT_MIN_COVERAGE") or "1.0"
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        msg = f"KAFKA_AUDIT_MIN_COVERAGE is {text!r}: it must be a number between 0 and 1, for example 0.9"
        raise UsageError(msg)
    return share


def remind() -> timedelta | None:
    """Return after how long an open incident is told again, None for never.

    Raises:
        UsageError: the variable holds no number of hours.
    """
    return _hours("KAFKA_AUDIT_REMIND_HOURS") or None


def approval() -> timedelta:
    """Return after how long a change that nobody approved is rejected; a day where the variable holds no number of hours."""
    try:
        return _hours("KAFKA_AUDIT_APPROVAL_HOURS") or timedelta(hours=24)
    except UsageError:  # a DAG file that raises is a DAG that nobody finds
        return timedelta(hours=24)


def _hours(variable: str) -> timedelta:
    text = os.environ.get(variable) or "24"
    try:
        hours = float(text)
    except ValueError:
        hours = -1.0
    if not 0 <= hours <= MOST_HOURS:
        msg = f"{variable} is {text!r}: it must be a number of hours, at most {MOST_HOURS}; 0 switches it off"
        raise UsageError(msg)
    return timedelta(hours=hours)


def spark_memory() -> str:
    """Return the heap of the Spark driver and of each executor, in Spark's notation.

    The plan of one query of all checks alone takes most of 1 GB: with less than 2 GB the collector takes over.
    """
    return os.environ.get("KAFKA_AUDIT_SPARK_MEMORY") or "2g"
