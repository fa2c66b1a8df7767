"""What other DAGs can be scheduled on: for each cluster «audited» and «clean», with a summary in the event's extra.

`schedule=[assets.clean("prod")]` runs a DAG after each audit of prod whose gate opened. Events exist for successful tasks only,
so «audited» comes from the task `report`, whatever was found, and «clean» from the gate.
"""

from collections.abc import Mapping
from typing import Any

from airflow.sdk import Asset, AssetAlias

AUDITED = AssetAlias(name="kafka_audit_audited", group="kafka_audit")
CLEAN = AssetAlias(name="kafka_audit_clean", group="kafka_audit")
"""The assets of all clusters: the cluster file lists them when the DAG runs, not when it is parsed."""


def audited_asset(cluster: str) -> Asset:
    """Return what is updated by each audit that judged a cluster."""
    return _asset(cluster, "audited")


def clean_asset(cluster: str) -> Asset:
    """Return what is updated by each audit of a cluster that found nothing for the gate to fail on."""
    return _asset(cluster, "clean")


def _asset(cluster: str, kind: str) -> Asset:
    # Airflow identifies an asset by name and URI, so both are required.
    return Asset(name=f"kafka_audit/{cluster}/{kind}", uri=f"x-kafka-audit://{cluster}/{kind}", group="kafka_audit")


def event_summary(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an event says of a report; numbers, ids and headlines only."""
    counts, coverage = document["counts"], document["coverage"]
    return {
        "cluster": document["cluster"],
        "cluster_id": document["cluster_id"],
        "snapshot_id": document["snapshot_id"],
        "finished_at": document["finished_at"],
        "incidents": [incident["headline"] for incident in document["incidents"][:10]],
        "failed": counts["FAIL"],
        "not_known": counts["UNKNOWN"],
        "reads_answered": coverage["answered"],
        "reads_asked": coverage["asked"],
    }


def add_asset_event(events: Any, alias: AssetAlias, asset: Asset, document: Mapping[str, Any]) -> None:  # noqa: ANN401 -- Airflow's outlet_events
    """Add an event to those that a task leaves when it succeeds."""
    events[alias].add(asset, extra=event_summary(document))
