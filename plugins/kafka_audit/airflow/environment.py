"""What a deployment says through environment variables; read when asked, so that every process sees its own.

| variable | meaning | default |
|---|---|---|
| KAFKA_AUDIT_CLUSTERS | cluster file, or a folder of them | $AIRFLOW_HOME/clusters.yaml |
| KAFKA_AUDIT_STORE | root of snapshots and reports, a path or URL | $AIRFLOW_HOME/kafka-audit-store |
| KAFKA_AUDIT_SCHEDULE | cron expression, or `none` | every 15 minutes |
| KAFKA_AUDIT_WATCH | `on`, or seconds between readings: an audit when a cluster is suspected; see docs/watch.md | off |
| KAFKA_AUDIT_WATCH_GRACE_SECONDS | seconds that a broker may be away in a restart before it is suspected | 30 |
| KAFKA_AUDIT_WATCH_MINUTES | minutes between two audits that suspicions request, at least | 5 |
| KAFKA_AUDIT_FAIL_ON | severity from which a gate fails | high |
| KAFKA_AUDIT_MIN_COVERAGE | share of asked reads that must be answered | 1.0 |
| KAFKA_AUDIT_NOTIFIERS | further notifiers for alerts, JSON; see docs/alerts.md | none |
| KAFKA_AUDIT_REMIND_HOURS | hours after which an open incident is sent again; 0: never | 24 |
| KAFKA_AUDIT_APPROVAL_HOURS | hours after which a change without approval is rejected | 24 |
| KAFKA_AUDIT_PROPOSED_ROOT | the worker's folder of files that a form may propose | `proposed` beside the cluster file |
| KAFKA_AUDIT_REPORT_DAGS | the DAG whose readers see a cluster's reports, JSON; see docs/page.md | `kafka_audit` for all |
| KAFKA_AUDIT_CACHE | folder of the class archive with which Spark starts faster; `none` disables it | ~/.cache/kafka-audit |
| KAFKA_AUDIT_POOL | the Airflow pool of tasks that read a cluster; it bounds how many run at a time | none: 4 in a run |
| KAFKA_AUDIT_SPARK_MEMORY | heap of the Spark driver and of each executor | 2g |
"""

import json
import logging
import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from kafka_audit.model.errors import UsageError

EVERY_15_MINUTES = "*/15 * * * *"
REPORT_TAB = "findings"
"""Name in the address of the page that the plugin puts beside each DAG run."""
MOST_HOURS = 8760
WATCH_EVERY_S, LEAST_WATCH_S = 20.0, 5.0
SECONDS_PER_DAY = 86_400
_OFF = frozenset({"", "off", "none", "no", "false", "0"})

log = logging.getLogger(__name__)


def _home() -> Path:
    return Path(os.environ.get("AIRFLOW_HOME") or "~/airflow").expanduser().absolute()


def clusters_file() -> str:
    """Return the path of the cluster file, or of a folder of them."""
    return os.environ.get("KAFKA_AUDIT_CLUSTERS") or str(_home() / "clusters.yaml")


def store_root() -> str:
    """Return the root of the store: a URL as it is, a path made absolute, because Spark may run elsewhere."""
    root = os.environ.get("KAFKA_AUDIT_STORE") or str(_home() / "kafka-audit-store")
    return root.rstrip("/") if "://" in root else str(Path(root).expanduser().absolute())


def proposed_root() -> str:
    """Return the absolute path of the folder below which a form names files."""
    beside = str(Path(clusters_file()).expanduser().absolute().parent / "proposed")
    return str(Path(os.environ.get("KAFKA_AUDIT_PROPOSED_ROOT") or beside).expanduser().absolute())


def report_dags() -> Mapping[str, str]:
    """Return the DAG that decides who sees a cluster's reports, by cluster, `*` for all others; empty where nothing was said.

    Raises:
        UsageError: the variable holds no JSON object of names.
    """
    text = os.environ.get("KAFKA_AUDIT_REPORT_DAGS", "").strip()
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(isinstance(dag, str) and dag for dag in found.values()) or (text and not found):
        example = '{"prod": "payments_etl", "*": "kafka_audit"}'
        msg = f"KAFKA_AUDIT_REPORT_DAGS must be a JSON object of DAGs by cluster, for example {example}"
        raise UsageError(msg)
    return found


def schedule() -> str | None:
    """Return the DAG's cron expression, None for a DAG that only runs when it is triggered."""
    wanted = os.environ.get("KAFKA_AUDIT_SCHEDULE") or EVERY_15_MINUTES
    return None if wanted.lower() == "none" else wanted


def in_pool(**otherwise: int) -> dict[str, Any]:
    """Return arguments of a task that reads a cluster: its pool, or `otherwise` where the deployment names none.

    No pool is the default: Airflow never starts a task whose pool does not exist, and says so in the log of the scheduler only.
    """
    pool = os.environ.get("KAFKA_AUDIT_POOL", "").strip()
    return {"pool": pool} if pool else dict(otherwise)


def watch_every() -> float | None:
    """Return the seconds between readings of the watch, None where it is off; the usual ones where the variable is no number."""
    text = os.environ.get("KAFKA_AUDIT_WATCH", "").strip().lower()
    if text in _OFF:
        return None
    return _number("KAFKA_AUDIT_WATCH", WATCH_EVERY_S, LEAST_WATCH_S) if text != "on" else WATCH_EVERY_S


def watch_grace() -> float:
    """Return the seconds that a broker may be away before it is suspected; 30 if the variable is no number."""
    return _number("KAFKA_AUDIT_WATCH_GRACE_SECONDS", 30.0, 0.0)


def watch_distance() -> float:
    """Return the seconds between two audits that suspicions request, at least; five minutes if the variable is no number."""
    return _number("KAFKA_AUDIT_WATCH_MINUTES", 5.0, 1.0) * 60


def _number(variable: str, usual: float, least: float) -> float:
    """Return a number; the usual one with a line in the log where there is none: a trigger must not end for it."""
    text = os.environ.get(variable) or str(usual)
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not least <= number <= SECONDS_PER_DAY:
        log.warning("%s is %r: it must be a number from %g to %d; %g is used", variable, text, least, SECONDS_PER_DAY, usual)
        return usual
    return number


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
    """Return the time after which an open incident is sent again, None for never.

    Raises:
        UsageError: the variable holds no number of hours.
    """
    return _hours("KAFKA_AUDIT_REMIND_HOURS") or None


def approval() -> timedelta:
    """Return the time after which a change without approval is rejected; a day if the variable is no number of hours."""
    try:
        return _hours("KAFKA_AUDIT_APPROVAL_HOURS") or timedelta(hours=24)
    except UsageError:  # a DAG file that raises has no DAG in the UI
        return timedelta(hours=24)


def _hours(variable: str) -> timedelta:
    text = os.environ.get(variable) or "24"
    try:
        hours = float(text)
    except ValueError:
        hours = -1.0
    if not 0 <= hours <= MOST_HOURS:
        msg = f"{variable} is {text!r}: it must be a number of hours, at most {MOST_HOURS}; 0 disables it"
        raise UsageError(msg)
    return timedelta(hours=hours)


def spark_memory() -> str:
    """Return the heap of the Spark driver and of each executor, in Spark's notation.

    The plan of one query of all checks alone takes most of 1 GB: with less than 2 GB the collector takes over.
    """
    return os.environ.get("KAFKA_AUDIT_SPARK_MEMORY") or "2g"
