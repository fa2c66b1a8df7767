"""Whether a stored `findings.json` is one that a later audit can be compared with."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kafka_audit.model.finding import Confidence, Lifecycle, Severity, Status


def fits(report: Mapping[str, Any], snapshot_id: str) -> bool:
    """Return whether a report is of that snapshot and has all that a comparison reads."""
    try:
        for finding in _list(report.get("findings", [])):
            _known(finding)
            _texts(finding["code"], finding["message"], finding["fingerprint"], finding["resource"]["name"])
        for incident in (*_list(report.get("incidents", [])), *_list(report.get("incomparable_incidents", []))):
            _texts(incident["headline"], incident["cause"], incident["severity"], *_list(incident["findings"]))
    except (KeyError, TypeError, ValueError):
        return False
    return report.get("snapshot_id") == snapshot_id


_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "status": frozenset(status.value for status in Status),
        "severity": frozenset(severity.name for severity in Severity),
        "confidence": frozenset(confidence.value for confidence in Confidence),
        "lifecycle": frozenset(lifecycle.value for lifecycle in Lifecycle),
    }
)


def _known(finding: Mapping[str, Any]) -> None:
    if not all(finding[key] in texts for key, texts in _WORDS.items()):
        raise ValueError


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _texts(*values: object) -> None:
    if not all(isinstance(value, str) for value in values):
        raise TypeError
