"""The manifest of a snapshot: written last, so a snapshot is published when it is there; it says what each file must be.

A table that is the same as in an earlier snapshot has no file of its own: the manifest names the snapshot whose folder has it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from kafka_audit.model.errors import SnapshotError

SCHEMA_VERSION = 2
"""Of manifest and tables together; rises when an older reader would misread, not when a column with a default is added.

1 had every file in the folder of its snapshot, and is read as well.
"""

SNAPSHOT_ID = re.compile(r"(?P<stamp>\d{8}T\d{6}Z)-(?P<cluster>[A-Za-z0-9][A-Za-z0-9._-]*)-[0-9a-f]{4}")


_TABLE = re.compile(r"[a-z][a-z0-9_]{0,79}")


@dataclass(frozen=True, kw_only=True)
class TableFile:
    """One Parquet file of a snapshot."""

    rows: int
    bytes: int
    sha256: str
    stored_in: str | None = None  # the earlier snapshot of this cluster whose folder has the file; None: this snapshot


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What was audited and when (milliseconds since the epoch, the auditor's clock), and the files by table name."""

    snapshot_id: str
    cluster: str
    cluster_id: str
    started_ms: int
    finished_ms: int
    tool_version: str
    tables: Mapping[str, TableFile]
    imported: str | None = None  # the SHA-256 of the report with which the snapshot was imported: another party wrote that one
    schema_version: int = SCHEMA_VERSION

    def to_json(self) -> str:
        """Return the text of `manifest.json`."""
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "tables"}
        tables = {
            name: {key: value for key, value in asdict(file).items() if value is not None} for name, file in self.tables.items()
        }
        if self.imported is None:
            del plain["imported"]
        return json.dumps(plain | {"tables": tables}, indent=2)

    def holder(self, table: str) -> str:
        """Return the id of the snapshot whose folder has the file of a table: of this one, or of an earlier one."""
        return self.tables[table].stored_in or self.snapshot_id

    @classmethod
    def from_json(
        cls, text: bytes, *, place: str, snapshot_id: str, way_out: str = "remove the file, or restore it"
    ) -> "Manifest":
        """Read what `to_json` wrote.

        Args:
            text: the file.
            place: its path, for messages.
            snapshot_id: its folder, which it must name.
            way_out: what to do about one that is not valid, for messages.

        Raises:
            SnapshotError: no manifest, one of another snapshot, or one of a newer version of this program.
        """
        try:
            raw = json.loads(text)
            version = int(raw["schema_version"])
            if version > SCHEMA_VERSION:
                way_out = "upgrade kafka-audit"
                problem = f"was written by a newer version (schema {version}, this version supports {SCHEMA_VERSION})"
            elif raw["snapshot_id"] != snapshot_id:
                problem = f"belongs to snapshot {raw['snapshot_id']!r}, not to this folder"
            else:
                tables = {str(name): TableFile(**file) for name, file in raw.pop("tables").items()}
                _require_inside(snapshot_id, tables)
                return cls(**raw, tables=MappingProxyType(tables))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            problem = "is not a valid manifest (truncated or edited)"
        msg = f"{place}: {problem}; {way_out}"
        raise SnapshotError(msg)


def _require_inside(snapshot_id: str, tables: Mapping[str, TableFile]) -> None:
    """Raise ValueError for a table whose file would not be in the folder of a snapshot of the same cluster."""
    for name, file in tables.items():
        if not _TABLE.fullmatch(name) or (file.stored_in is not None and cluster_of(file.stored_in) != cluster_of(snapshot_id)):
            raise ValueError(name)


def named_files(text: bytes, snapshot_id: str) -> tuple[str | None, frozenset[tuple[str, str]] | None]:
    """Return the cluster id of a manifest and the files that it names, as (snapshot whose folder has it, table).

    This is for what must not delete them: it reads manifests of newer versions, too. Of a damaged one both are None.
    """
    try:
        raw = json.loads(text)
        tables = raw["tables"].items()
        named = frozenset((str(file.get("stored_in") or snapshot_id), str(name)) for name, file in tables)
        return (raw["cluster_id"] if raw["snapshot_id"] == snapshot_id else None), named
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, None


def cluster_of(snapshot_id: str) -> str | None:
    """Return the cluster that a snapshot's id names, None for a folder that is no snapshot's."""
    match = SNAPSHOT_ID.fullmatch(snapshot_id)
    return match["cluster"] if match else None


SKEW = timedelta(minutes=5)
"""How far the clock of the host that audited may be ahead of this one."""


def is_of_future(snapshot_id: str, now: datetime | None = None) -> bool:
    """Return whether the id of a snapshot names a time that is still to come: sorted by time, it would be the newest for ever."""
    at = taken_at(snapshot_id)
    return at is not None and at > (now or datetime.now(UTC)) + SKEW


def require_past(manifest: Manifest) -> None:
    """Raise ValueError, with what is wrong, where a snapshot names a time that is none, or still to come."""
    latest = datetime.now(UTC) + SKEW
    if taken_at(manifest.snapshot_id) is None:
        message = "its id names no time"
    elif is_of_future(manifest.snapshot_id) or manifest.finished_ms > latest.timestamp() * 1000:
        message = "it was taken in the future; correct the clock of the host that audits"
    elif not 0 <= manifest.started_ms <= manifest.finished_ms:
        message = "it ended before it began"
    else:
        return
    raise ValueError(message)


def taken_at(snapshot_id: str) -> datetime | None:
    """Return the time that a snapshot's id names, None where it is no time."""
    try:
        return datetime.strptime(snapshot_id.partition("-")[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
