"""What a deployment sets; read when asked, so that every process sees its own.

The table of all settings is in `options`. A variable takes precedence over the option of Airflow's configuration.
"""

import json
import logging
import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from kafka_audit.airflow.moved import conf
from kafka_audit.airflow.options import OPTIONS, SECTION
from kafka_audit.model.errors import UsageError

REPORT_TAB = "findings"
"""Name in the address of the page that the plugin puts beside each DAG run."""
MOST_HOURS = 8760
WATCH_EVERY_S, LEAST_WATCH_S = 20.0, 5.0
SECONDS_PER_DAY = 86_400
_OFF = frozenset({"", "off", "none", "no", "false", "0"})

log = logging.getLogger(__name__)


def _text(variable: str) -> str:
    """Return a setting: the variable, else the option, else the default; "" where there is none of them."""
    option = OPTIONS[variable]
    found = os.environ.get(variable)
    if not found and option.in_section:
        found = conf.get(SECTION, option.name, fallback=None)
    return found or option.default or ""


def _place(variable: str) -> str:
    """Return where a setting comes from, for messages."""
    option = OPTIONS[variable]
    return variable if os.environ.get(variable) or not option.in_section else f"{variable} ({option.name} in [{SECTION}])"


def _home() -> Path:
    return Path(os.environ.get("AIRFLOW_HOME") or "~/airflow").expanduser().absolute()


def clusters_file() -> str:
    """Return the path of the cluster file, or of a folder of them."""
    return _text("KAFKA_AUDIT_CLUSTERS") or str(_home() / "clusters.yaml")


def store_root() -> str:
    """Return the root of the store: a URL as it is, a path made absolute, because Spark may run elsewhere.

    From now on this process reaches a URL with the login of the connection `kafka_audit_store`, if there is one.
    """
    root = _text("KAFKA_AUDIT_STORE") or str(_home() / "kafka-audit-store")
    if "://" not in root:
        return str(Path(root).expanduser().absolute())
    from kafka_audit.airflow.connections import store_connection  # noqa: PLC0415 -- not where DAG files are parsed: it imports the store

    store_connection.use()
    return root.rstrip("/")


def proposed_root() -> str:
    """Return the absolute path of the folder below which a form names files."""
    beside = str(Path(clusters_file()).expanduser().absolute().parent / "proposed")
    return str(Path(_text("KAFKA_AUDIT_PROPOSED_ROOT") or beside).expanduser().absolute())


def report_dags() -> Mapping[str, str]:
    """Return the DAG that decides who sees a cluster's reports, by cluster, `*` for all others; empty where nothing was said.

    Raises:
        UsageError: the setting holds no JSON object of names.
    """
    text = _text("KAFKA_AUDIT_REPORT_DAGS").strip()
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
    wanted = _text("KAFKA_AUDIT_SCHEDULE")
    return None if wanted.lower() == "none" else wanted


def in_pool(**otherwise: int) -> dict[str, Any]:
    """Return arguments of a task that reads a cluster: its pool, or `otherwise` where the deployment names none.

    No pool is the default: Airflow never starts a task whose pool does not exist, and says so in the log of the scheduler only.
    """
    pool = _text("KAFKA_AUDIT_POOL").strip()
    return {"pool": pool} if pool else dict(otherwise)


def notifier_list() -> str:
    """Return the JSON list of further notifiers."""
    return _text("KAFKA_AUDIT_NOTIFIERS") or "[]"


def watch_every() -> float | None:
    """Return the seconds between readings of the watch, None where it is off; the usual ones where the variable is no number."""
    text = _text("KAFKA_AUDIT_WATCH").strip().lower()
    if text in _OFF:
        return None
    return _number("KAFKA_AUDIT_WATCH", LEAST_WATCH_S, WATCH_EVERY_S) if text != "on" else WATCH_EVERY_S


def watch_grace() -> float:
    """Return the seconds that a broker may be away before it is suspected; the default if the setting is no number."""
    return _number("KAFKA_AUDIT_WATCH_GRACE_SECONDS", 0.0)


def watch_distance() -> float:
    """Return the seconds between two audits that suspicions request, at least; the default if the setting is no number."""
    return _number("KAFKA_AUDIT_WATCH_MINUTES", 1.0) * 60


def _number(variable: str, least: float, usual: float | None = None) -> float:
    """Return a number; the usual one with a line in the log where there is none: a trigger must not end for it."""
    usual = _default_number(variable) if usual is None else usual
    text = _text(variable)
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not least <= number <= SECONDS_PER_DAY:
        log.warning(
            "%s is %r: it must be a number from %g to %d; %g is used", _place(variable), text, least, SECONDS_PER_DAY, usual
        )
        return usual
    return number


def _default_number(variable: str) -> float:
    return float(OPTIONS[variable].default or 0)


def fail_on() -> str:
    """Return the name of the severity from which a gate fails."""
    return _text("KAFKA_AUDIT_FAIL_ON")


def min_coverage() -> float:
    """Return the share of asked reads, 0 to 1, below which a gate fails.

    Raises:
        UsageError: the setting holds no number between 0 and 1.
    """
    text = _text("KAFKA_AUDIT_MIN_COVERAGE")
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        msg = f"{_place('KAFKA_AUDIT_MIN_COVERAGE')} is {text!r}: it must be a number between 0 and 1, for example 0.9"
        raise UsageError(msg)
    return share


def remind() -> timedelta | None:
    """Return the time after which an open incident is sent again, None for never.

    Raises:
        UsageError: the setting holds no number of hours.
    """
    return _hours("KAFKA_AUDIT_REMIND_HOURS") or None


def approval() -> timedelta:
    """Return the time after which a change without approval is rejected; the default if the setting is no number of hours."""
    usual = timedelta(hours=_default_number("KAFKA_AUDIT_APPROVAL_HOURS"))
    try:
        return _hours("KAFKA_AUDIT_APPROVAL_HOURS") or usual
    except UsageError:  # a DAG file that raises has no DAG in the UI
        return usual


def _hours(variable: str) -> timedelta:
    text = _text(variable)
    try:
        hours = float(text)
    except ValueError:
        hours = -1.0
    if not 0 <= hours <= MOST_HOURS:
        msg = f"{_place(variable)} is {text!r}: it must be a number of hours, at most {MOST_HOURS}; 0 disables it"
        raise UsageError(msg)
    return timedelta(hours=hours)


def spark_memory() -> str:
    """Return the heap of the Spark driver and of each executor, in Spark's notation.

    The plan of one query of all checks alone takes most of 1 GB: with less than 2 GB the collector takes over.
    """
    return _text("KAFKA_AUDIT_SPARK_MEMORY")
