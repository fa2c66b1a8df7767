"""Reports of the product from what tests write as JSON: whole ones, and parts of them with the rest left empty."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from kafka_audit.model.report import Report
from kafka_audit.store import Store

_T = TypeVar("_T")
_HEAD = {
    "cluster": "prod", "cluster_id": "x", "snapshot_id": "20260914T180000Z-prod-0001", "previous_snapshot_id": None,
    "finished_at": None, "coverage": {}, "findings": [], "incidents": [],
    "matrix": {"brokers": [], "controller": None, "endpoints": {}, "observers": [], "why": []},
}  # fmt: skip
_COUNTS = {"FAIL": 0, "PASS": 0, "UNKNOWN": 0, "NOT_APPLICABLE": 0}
_READ = {"broker": None}
_COVERAGE = {"asked": 1, "answered": 1, "unknown": []}
FINDING = {
    "code": "KA105", "name": "some_fault", "status": "FAIL", "severity": "HIGH", "confidence": "measured", "message": "It fails.",
    "resource": {"type": "cluster", "name": "cluster"}, "evidence": {}, "remediation": "", "fingerprint": "f", "lifecycle": "new",
    "muted": False,
}  # fmt: skip
INCIDENT = {
    "headline": "It fails", "cause": "KA105", "severity": "HIGH", "confidence": "measured", "lifecycle": "new", "findings": [],
    "evidence_for": [], "evidence_against": [], "not_known": [], "remediation": [],
}  # fmt: skip


def report_of(document: Mapping[str, Any] | Report) -> Report:
    """Return the report that a `findings.json` holds; of one that a test made in part, the rest is empty."""
    return document if isinstance(document, Report) else msgspec.convert(whole(document), Report)


def whole(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document that a test made in part with all that every report has."""
    found = _HEAD | document
    coverage = _COVERAGE | found["coverage"]
    coverage["unknown"] = [_READ | read for read in coverage["unknown"]]
    findings = [FINDING | one for one in found["findings"]]
    return found | {
        "counts": _COUNTS | found.get("counts", {}),
        "coverage": coverage,
        "findings": [one | {"resource": {"type": "cluster"} | one["resource"]} for one in findings],
        "incidents": [INCIDENT | one for one in found["incidents"]],
    }


def part_of(kind: type[_T], written: object) -> _T:
    """Return a part of a report, also of one that a test wrote as JSON."""
    if isinstance(written, msgspec.Struct):
        assert isinstance(written, kind)
        return written
    return msgspec.convert(written, kind)


def put(store: Store, snapshot_id: str, document: Mapping[str, Any]) -> None:
    """Write what is no report of this version, or of none, where a store has the report on a snapshot."""
    store._files.write(f"snapshots/{snapshot_id}/findings.json", json.dumps(document).encode())
