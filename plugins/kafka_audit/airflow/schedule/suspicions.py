"""The schedule of the DAG `kafka_audit_suspected`: where the watch is on, the suspicions of each cluster.

Parsing the DAG needs it, so nothing here imports a client library.
"""

from airflow.sdk import Asset, AssetAny, AssetWatcher

from kafka_audit import settings
from kafka_audit.airflow import environment
from kafka_audit.airflow.schedule import assets
from kafka_audit.airflow.schedule.suspect_trigger import ClusterSuspectTrigger
from kafka_audit.model.errors import UsageError


def suspicions() -> AssetAny | None:
    """Return the schedule; None without the watch, and for a cluster file that cannot be read, as the scheduled audit reports."""
    if environment.watch_every() is None:
        return None
    try:
        names = list(settings.load(environment.clusters_file()))
    except UsageError:
        names = []
    return AssetAny(*map(watched_asset, names)) if names else None


def watched_asset(cluster: str) -> Asset:
    """Return the asset of a cluster's suspicions, for the schedule of any DAG: Airflow drops a watcher that one of them lacks."""
    watcher = AssetWatcher(name=f"kafka_audit_{cluster}", trigger=ClusterSuspectTrigger(cluster=cluster))
    return assets.suspect_asset(cluster, [watcher])
