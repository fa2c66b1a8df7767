"""Clusters and findings for tests that judge nothing: only what the test names, in the words of the cases (`checks.world`)."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from checks.cases import base
from checks.world import snapshots
from cluster_views import cluster_view
from kafka_audit.checks import Check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES
from kafka_audit.model.finding import (
    Confidence,
    Finding,
    Lifecycle,
    Resource,
    Severity,
    Status,
    fingerprint,
)
from kafka_audit.model.tables import LARGE, Snapshot

CLUSTER_ID = "kX9wAAAAAAAAAAAAAAAAAQ"
KRAFT = {"info": {"mode": "kraft"}, "zookeeper": "none"}
_BARE = {
    "info": {"started_ms": 1789408782000, "finished_ms": 1789408800000},
    "zookeeper": {"kafka_cluster_id": CLUSTER_ID},
    **dict.fromkeys(("brokers", "topics", "configs", "members", "znodes", "apis"), "none"),
}


def snapshot(
    now: Mapping[str, Any], snapshot_id: str = "20260914T180000Z-prod-0001", before: Mapping[str, Any] | None = None
) -> Snapshot:
    """Build the snapshot of a cluster of nothing but `now`; in one sample, unless it says what was different `before`."""
    earlier = {"samples": 1} if before is None else {"before": before}
    found, _ = snapshots(base(), snapshot_id, {"world": _BARE, "now": now, **earlier})
    return replace(found, cluster_id=CLUSTER_ID)


def view(judged: Mapping[str, Any] | Snapshot) -> ClusterView:
    """Return the cluster view of a snapshot, or of a cluster of nothing but what is named."""
    seen = judged if isinstance(judged, Snapshot) else snapshot(judged)
    if any(seen.of(table) for table in LARGE):
        return cluster_view(seen)
    return ClusterView(seen, None, Differences.from_rows(DIFFERENCES, ()))  # no engine has to start


def finding(code: str, resource: str, **told: Any) -> Finding:
    """Build a finding; severity HIGH, FAIL, measured and new unless `told` otherwise."""
    return Finding(
        code=code,
        name=told.get("name", "some_fault"),
        status=Status(told.get("status", "FAIL")),
        severity=Severity[told.get("severity", "HIGH")],
        confidence=Confidence(told.get("confidence", "measured")),
        resource=Resource.of(resource),
        message=told.get("message", f"{code} at {resource}"),
        evidence={key: tuple(value) if isinstance(value, list) else value for key, value in told.get("evidence", {}).items()},
        remedy=(told["remediation"],) if "remediation" in told else (),
        fingerprint=fingerprint(code, CLUSTER_ID, resource),
        lifecycle=Lifecycle(told.get("lifecycle", "new")),
        muted=told.get("muted", False),
    )


def check(code: str, **told: Any) -> Check:
    """Build a check that nobody registered, for tests of what is done with its judgements."""
    return Check(
        code=code,
        name=told.get("name", "some_fault"),
        family="tests",
        severity=told.get("severity", Severity.HIGH),
        needs=told.get("needs", ()),
        says=told.get("says", {Status.FAIL: "Broker {broker} fails"}),
        function=lambda: "",
        kind="audit",
        doc=inspect.cleandoc(told.get("doc", "")),
    )
