"""Stored reports: where they are, and whether one is a report that this version can read, compare with, and show."""

import contextlib
import gzip
import json
import zlib
from datetime import UTC, datetime

import msgspec

from kafka_audit.model.report import READABLE, SCHEMA_VERSION, Report
from kafka_audit.model.text import clean
from kafka_audit.store.files import Files
from kafka_audit.store.manifest import SKEW

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


def parse_report(text: bytes) -> Report:
    """Return the report of a `findings.json`; raises ValueError, which says what the file is, where it is no such file."""
    # msgspec refuses half a character, which a name of a cluster may have, and does not say of which version a report is.
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(text, type=Report)
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
    try:
        return msgspec.convert(document, Report)
    except (msgspec.ValidationError, RecursionError):
        msg = "is not a report of this snapshot that this version can read"
        raise ValueError(msg) from None


def can_be_shown(report: Report, snapshot_id: str) -> bool:
    """Return whether a report is of that snapshot, and none of its times is still to come."""
    return report.snapshot_id == snapshot_id and are_past(report.started_at, report.finished_at)


def are_past(*times: str | None, now: datetime | None = None) -> bool:
    """Return whether these are times, known or not, and none of them is still to come."""
    latest = (now or datetime.now(UTC)) + SKEW
    try:
        return all(datetime.fromisoformat(at) <= latest for at in times if at is not None)
    except (TypeError, ValueError):
        return False
