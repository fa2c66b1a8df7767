"""Stored reports: where they are, and whether one is a report that this version can read, compare with, and show."""

import gzip
import json
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from kafka_audit.model.finding import Confidence, Lifecycle, Severity, Status
from kafka_audit.model.report import READABLE, SCHEMA_VERSION
from kafka_audit.model.text import clean
from kafka_audit.store.files import Files
from kafka_audit.store.manifest import SKEW

_HEAD = ("cluster", "cluster_id", "finished_at", "coverage", "counts", "findings", "incidents", "matrix", "previous_snapshot_id")


REPORT = "findings.json"
_PACKED = f"{REPORT}.gz"
"""The report of a snapshot, a day after it was judged: most of it is prose, and a tenth of the room holds it."""

PACKED_FROM = 256 << 10
"""Bytes from which a report is compressed at once: that of some hundred brokers is larger than what changed in their tables."""
_DIGEST = "findings.digest.json"
_MOST_BYTES = 512 << 20


def read_text(files: Files, snapshot_id: str) -> bytes | None:
    """Return the text of the report on a snapshot, None where there is none; of one that is damaged an empty text."""
    text = files.read(f"snapshots/{snapshot_id}/{REPORT}")
    packed = files.read(f"snapshots/{snapshot_id}/{_PACKED}") if text is None else None
    if packed is None:
        return text
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        text = unpack.decompress(packed, _MOST_BYTES)
    except zlib.error:
        return b""
    return text if unpack.eof else b""


def report_path(files: Files, snapshot_id: str) -> str:
    """Return where the report on a snapshot is, for messages."""
    plain, packed = (f"snapshots/{snapshot_id}/{name}" for name in (REPORT, _PACKED))
    return packed if files.modified(plain) is None and files.modified(packed) is not None else plain


def written_at(files: Files, snapshot_id: str) -> datetime | None:
    """Return when the report on a snapshot was written, None where there is none."""
    folder = f"snapshots/{snapshot_id}"
    return files.modified(f"{folder}/{REPORT}") or files.modified(f"{folder}/{_PACKED}")


def write(files: Files, snapshot_id: str, content: bytes) -> None:
    """Write the report on a snapshot, a large one compressed; a reader finds the earlier one or this one at any time."""
    folder = f"snapshots/{snapshot_id}"
    if len(content) < PACKED_FROM:
        files.write(f"{folder}/{REPORT}", content)
        return
    files.write(f"{folder}/{_PACKED}", gzip.compress(content, mtime=0))
    files.remove(f"{folder}/{REPORT}")


def pack(files: Files, snapshot_id: str) -> None:
    """Compress the report on a snapshot. A reader finds one of the two at any time, and a digest that is not older."""
    folder = f"snapshots/{snapshot_id}"
    text, digest = files.read(f"{folder}/{REPORT}"), files.read(f"{folder}/{_DIGEST}")
    if text is None:
        return
    files.write(f"{folder}/{_PACKED}", gzip.compress(text, mtime=0))
    if digest is not None:
        files.write(f"{folder}/{_DIGEST}", digest)
    files.remove(f"{folder}/{REPORT}")


def parse_report(text: bytes) -> dict[str, Any]:
    """Return the content of a `findings.json`; raises ValueError, which says what the file is, where it is no such file."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        msg = "is not a valid report (truncated or edited)"
        raise ValueError(msg)  # noqa: TRY004 -- of the file, not of an argument
    version = document.get("schema_version", SCHEMA_VERSION)
    if version not in READABLE:
        msg = f"has schema_version {clean(version)}, this version reads {' and '.join(map(str, READABLE))}"
        raise ValueError(msg)
    return document


def can_be_shown(report: Mapping[str, Any], snapshot_id: str) -> bool:
    """Return whether a report is of that snapshot and has all that its pages need; reports of the first versions said less."""
    return all(key in report for key in _HEAD) and times_are_past(report) and fits(report, snapshot_id)


def times_are_past(report: Mapping[str, Any], now: datetime | None = None) -> bool:
    """Return whether begin and end of the audit are times, known or not, and none of them is still to come."""
    latest = (now or datetime.now(UTC)) + SKEW
    try:
        times = [datetime.fromisoformat(at) for at in (report.get("started_at"), report["finished_at"]) if at is not None]
        return all(at <= latest for at in times)
    except (KeyError, TypeError, ValueError):
        return False


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
