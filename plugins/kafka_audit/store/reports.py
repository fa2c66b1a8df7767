"""Whether a stored `findings.json` is one that a later audit can be compared with."""

from collections.abc import Mapping
from typing import Any

from kafka_audit.model.finding import Confidence, Lifecycle, Severity, Status


def fits(report: Mapping[str, Any], snapshot_id: str) -> bool:
    """Tell whether a report is of that snapshot and has all that a comparison reads."""
    try:
        for finding in _list(report.get("findings", [])):
            Status(finding["status"])
            Severity[finding["severity"]]
            Confidence(finding["confidence"])
            Lifecycle(finding["lifecycle"])
            _texts(finding["code"], finding["message"], finding["fingerprint"], finding["resource"]["name"])
        for incident in (*_list(report.get("incidents", [])), *_list(report.get("incomparable_incidents", []))):
            _texts(incident["headline"], incident["cause"], incident["severity"], *_list(incident["findings"]))
    except (KeyError, TypeError, ValueError):
        return False
    return report.get("snapshot_id") == snapshot_id


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _texts(*values: object) -> None:
    if not all(isinstance(value, str) for value in values):
        raise TypeError
