"""What DAGs can be scheduled on: for each cluster «audited», «clean» and «suspect», with a summary in the event's extra.

`schedule=[assets.clean("prod")]` runs a DAG after each audit of prod whose gate opened. Events exist for successful tasks only,
so «audited» comes from the task `report`, whatever was found, and «clean» from the gate. «suspect» comes from the triggerer.
"""

from collections.abc import Iterable
from typing import Any

from airflow.sdk import Asset, AssetAlias, AssetWatcher

from kafka_audit.model.report import Report

AUDITED = AssetAlias(name="kafka_audit_audited", group="kafka_audit")
CLEAN = AssetAlias(name="kafka_audit_clean", group="kafka_audit")
"""The assets of all clusters: the cluster file lists them when the DAG runs, not when it is parsed."""


_PREFIX, _SUSPECT = "kafka_audit/", "suspect"


def audited_asset(cluster: str) -> Asset:
    """Return what is updated by each audit that judged a cluster."""
    return _asset(cluster, "audited")


def clean_asset(cluster: str) -> Asset:
    """Return what is updated by each audit of a cluster that found nothing for the gate to fail on."""
    return _asset(cluster, "clean")


def suspect_asset(cluster: str, watchers: Iterable[AssetWatcher] = ()) -> Asset:
    """Return what is updated when the watch suspects a cluster; what is suspected is in the event's extra."""
    return _asset(cluster, _SUSPECT, watchers)


def suspected_clusters(events: Iterable[Any]) -> frozenset[str]:
    """Return the clusters whose suspicions triggered a run, by the assets of its events; none for other runs."""
    names = (getattr(asset, "name", "") for asset in events)
    suffix = f"/{_SUSPECT}"
    return frozenset(
        name.removeprefix(_PREFIX).removesuffix(suffix) for name in names if name.startswith(_PREFIX) and name.endswith(suffix)
    )


def _asset(cluster: str, kind: str, watchers: Iterable[AssetWatcher] = ()) -> Asset:
    # Airflow identifies an asset by name and URI, so both are required.
    return Asset(
        name=f"{_PREFIX}{cluster}/{kind}",
        uri=f"x-kafka-audit://{cluster}/{kind}",
        group="kafka_audit",
        watchers=list(watchers),
    )


def event_summary(document: Report) -> dict[str, Any]:
    """Return what an event says of a report; numbers, ids and headlines only."""
    counts, coverage = document.counts, document.coverage
    return {
        "cluster": document.cluster,
        "cluster_id": document.cluster_id,
        "snapshot_id": document.snapshot_id,
        "finished_at": document.finished_at,
        "incidents": [incident.headline for incident in document.incidents[:10]],
        "failed": counts.FAIL,
        "not_known": counts.UNKNOWN,
        "reads_answered": coverage.answered,
        "reads_asked": coverage.asked,
    }


def add_asset_event(events: Any, alias: AssetAlias, asset: Asset, document: Report) -> None:  # noqa: ANN401 -- Airflow's outlet_events
    """Add an event to those that a task leaves when it succeeds."""
    events[alias].add(asset, extra=event_summary(document))
