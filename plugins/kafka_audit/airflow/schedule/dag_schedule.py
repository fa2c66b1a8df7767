"""The schedule of the DAG: its cron expression, and where the watch is on, the suspicions of each cluster.

Parsing the DAG needs it, so nothing here imports a client library.
"""

from typing import Any

from airflow.sdk import Asset, AssetAny, AssetWatcher

try:
    from airflow.sdk import AssetOrTimeSchedule, CronTriggerTimetable
except ImportError:  # Airflow 3.1
    from airflow.timetables.assets import AssetOrTimeSchedule  # type: ignore[assignment]
    from airflow.timetables.trigger import CronTriggerTimetable  # type: ignore[assignment]

from kafka_audit import settings
from kafka_audit.airflow import environment
from kafka_audit.airflow.schedule import assets
from kafka_audit.airflow.schedule.suspect_trigger import ClusterSuspectTrigger
from kafka_audit.model.errors import UsageError


def dag_schedule() -> Any:  # noqa: ANN401 -- whatever Airflow takes as a schedule
    """Return the schedule; a cluster file that cannot be read leaves the cron expression, as the first task reports."""
    cron = environment.schedule()
    if environment.watch_every() is None:
        return cron
    try:
        names = list(settings.load(environment.clusters_file()))
    except UsageError:
        names = []
    if not names:
        return cron
    watched = AssetAny(*map(watched_asset, names))
    return watched if cron is None else AssetOrTimeSchedule(timetable=CronTriggerTimetable(cron, timezone="UTC"), assets=watched)


def watched_asset(cluster: str) -> Asset:
    """Return the asset of a cluster's suspicions, for the schedule of any DAG: Airflow drops a watcher that one of them lacks."""
    watcher = AssetWatcher(name=f"kafka_audit_{cluster}", trigger=ClusterSuspectTrigger(cluster=cluster))
    return assets.suspect_asset(cluster, [watcher])
