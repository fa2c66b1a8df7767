"""The manifest of a snapshot: written last, so a snapshot is published when it is there; it says what each file must be."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from types import MappingProxyType

from kafka_audit.model.errors import SnapshotError

SCHEMA_VERSION = 1
"""Of manifest and tables together; rises when an older reader would misread, not when a column with a default is added."""

SNAPSHOT_ID = re.compile(r"(?P<stamp>\d{8}T\d{6}Z)-(?P<cluster>[A-Za-z0-9][A-Za-z0-9._-]*)-[0-9a-f]{4}")


@dataclass(frozen=True, kw_only=True)
class TableFile:
    """One Parquet file of a snapshot."""

    rows: int
    bytes: int
    sha256: str


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
    schema_version: int = SCHEMA_VERSION

    def to_json(self) -> str:
        """Return the text of `manifest.json`."""
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "tables"}
        return json.dumps(plain | {"tables": {name: asdict(file) for name, file in self.tables.items()}}, indent=2)

    @classmethod
    def from_json(cls, text: bytes, *, place: str, snapshot_id: str) -> "Manifest":
        """Read what `to_json` wrote.

        Args:
            text: the file.
            place: its path, for messages.
            snapshot_id: its folder, which it must name.

        Raises:
            SnapshotError: no manifest, one of another snapshot, or one of a newer version of this program.
        """
        way_out = "remove the folder of the snapshot, or restore it"
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
                return cls(**raw, tables=MappingProxyType(tables))
        except (ValueError, KeyError, TypeError, AttributeError):
            problem = "is not a valid manifest (truncated or edited)"
        msg = f"{place}: {problem}; {way_out}"
        raise SnapshotError(msg)


def cluster_of(snapshot_id: str) -> str | None:
    """Return the cluster that a snapshot's id names, None for a folder that is no snapshot's."""
    match = SNAPSHOT_ID.fullmatch(snapshot_id)
    return match["cluster"] if match else None


def taken_at(snapshot_id: str) -> datetime | None:
    """Return the time that a snapshot's id names, None where it is no time."""
    try:
        return datetime.strptime(snapshot_id.partition("-")[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
