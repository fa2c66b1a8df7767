"""Bundles: one snapshot and its report in a ZIP file, which is read on any machine, without the cluster and without a store.

    bundle.json            what is audited, the version, and size and SHA-256 of each other entry
    cluster.json           the entry of the cluster file without secrets, where there was one
    report.html            the report for a browser
    snapshot/<file>        the files of the snapshot's folder: manifest.json, the tables, findings.json, differences.json

The same contents give the same bytes. A bundle may come from anyone: what is read is bounded before it is decompressed, each
entry is held against its digest, and nothing is extracted. The previous snapshot is not in it: the report has what changed.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, Self

import pyarrow as pa

from kafka_audit.model.errors import SnapshotError, UsageError
from kafka_audit.model.report import Report, report_text
from kafka_audit.model.tables import TABLES, Row
from kafka_audit.model.text import clean
from kafka_audit.store import Store, parquet, reports
from kafka_audit.store.files import whole_file
from kafka_audit.store.local_disk import FILE_MODE
from kafka_audit.store.manifest import Manifest, TableFile, cluster_of

SCHEMA_VERSION = 1
"""Of `bundle.json` and the names of entries; rises when an older reader would misread."""

MOST_ENTRIES = 200
"""Four times as many as a bundle has today."""

MOST_ENTRY_BYTES, MOST_BYTES = 512 << 20, 2 << 30
"""Decompressed, of one entry and of all."""

MOST_ROWS, MOST_UNPACKED = 3_000_000, 1 << 30
"""Of all tables together as an import unpacks them. 1,000,000 partitions have 2.4 million rows with their topics, of 300 MB."""

_CONTENTS, _CLUSTER, _PAGE = "bundle.json", "cluster.json", "report.html"
_MANIFEST, _FINDINGS, _DIFFERENCES = "snapshot/manifest.json", "snapshot/findings.json", "snapshot/differences.json"
_TABLE = re.compile(r"snapshot/(?P<table>[a-z][a-z0-9_]{0,79})\.parquet")
_OTHERS = frozenset({_MANIFEST, _FINDINGS, _DIFFERENCES, _CLUSTER, _PAGE})
_NEEDED = (_MANIFEST, _FINDINGS)

_CHUNK = 1 << 20  # also the most bytes of a ZIP file's directory, which is read as a whole: 20,000 entries
_TIME = (1980, 1, 1, 0, 0, 0)
_ENCRYPTED = 0x1
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError)
_NEW_ONE = "ask for a new bundle, which `kafka-audit bundle` creates"


def write_bundle(
    store: Store, snapshot_id: str, target: Path, *, page: Callable[[Report], str], cluster: Mapping[str, Any] | None
) -> None:
    """Write the bundle of a judged snapshot: whole or not at all, with mode 0640, never over another file.

    Args:
        store: where the snapshot is.
        snapshot_id: which.
        target: the file.
        page: makes `report.html` of the report.
        cluster: `cluster.json`, None where the cluster file is not at hand.

    Raises:
        UsageError: the snapshot has no report, or is too large for a bundle; the file exists or cannot be written.
        SnapshotError: a file of the snapshot is missing, changed or unreadable.
    """
    manifest, report = store.manifest(snapshot_id), store.read_report(snapshot_id)
    if report is None:
        msg = f"snapshot {snapshot_id} has no report; `kafka-audit diff EARLIER {snapshot_id}` creates it"
        raise UsageError(msg)
    contents = {
        _MANIFEST: manifest.to_json(),
        _FINDINGS: report_text(report),
        _DIFFERENCES: json.dumps(store.read_differences(snapshot_id)),
        _PAGE: page(store.shown_report(snapshot_id) or report),
    }
    if cluster is not None:
        contents[_CLUSTER] = json.dumps(cluster, indent=2) + "\n"
    small = {name: text.encode() for name, text in contents.items()}
    tables = {f"snapshot/{name}.parquet": name for name in manifest.tables}
    entries = {name: _entry(content) for name, content in small.items()}
    entries |= {
        name: _Entry(bytes=manifest.tables[table].bytes, sha256=manifest.tables[table].sha256) for name, table in tables.items()
    }
    _require_room(snapshot_id, entries)
    small[_CONTENTS] = _contents_text(manifest, entries).encode()
    with whole_file(target) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name in sorted({*small, *tables}):
            info = zipfile.ZipInfo(name, _TIME)
            info.create_system = 3  # Unix, wherever it is written
            info.external_attr = (stat.S_IFREG | FILE_MODE) << 16
            info.compress_type = zipfile.ZIP_STORED if name in tables else zipfile.ZIP_DEFLATED
            archive.writestr(info, store.table_file(manifest, tables[name]) if name in tables else small[name])


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """What an entry must be."""

    bytes: int
    sha256: str


def _entry(content: bytes) -> _Entry:
    return _Entry(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def _contents_text(manifest: Manifest, entries: Mapping[str, _Entry]) -> str:
    head = {
        "schema_version": SCHEMA_VERSION,
        "cluster": manifest.cluster,
        "cluster_id": manifest.cluster_id,
        "snapshot_id": manifest.snapshot_id,
        "tool_version": manifest.tool_version,
    }
    return json.dumps(head | {"entries": {name: asdict(entries[name]) for name in sorted(entries)}}, indent=2) + "\n"


def _require_room(snapshot_id: str, entries: Mapping[str, _Entry]) -> None:
    largest, all_bytes = max(entry.bytes for entry in entries.values()), sum(entry.bytes for entry in entries.values())
    if largest > MOST_ENTRY_BYTES or all_bytes > MOST_BYTES:
        most = f"{MOST_ENTRY_BYTES >> 20} MB in one file and {MOST_BYTES >> 20} MB in all"
        msg = f"snapshot {snapshot_id} has {all_bytes >> 20} MB, and a bundle at most {most}; send its report instead"
        raise UsageError(msg)


class _BoundedFile(io.FileIO):
    """A file of which no read takes more than `_CHUNK`: `zipfile` reads a directory at once, whatever length the file states."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _CHUNK:
            message = "the list of its entries is too long"
            raise zipfile.BadZipFile(message)
        return super().read(_CHUNK if size is None or size < 0 else size) or b""


class Bundle:
    """What a bundle holds, all of whose entries are what they must be.

    Attributes:
        manifest: of its snapshot.
        report: its `findings.json`.
    """

    manifest: Manifest
    report: Report

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Read a bundle. Its file is open until the end of the `with` block.

        Raises:
            SnapshotError: it cannot be read, is no bundle, one of a newer version, or not as it was written; the message names
                the entry. A bundle that was made to harm ends here as well.
        """
        self._place = clean(os.fspath(path))
        with contextlib.ExitStack() as stack:
            self._archive = self._opened(Path(path), stack)
            self._infos = self._listed()
            self._entries = self._contents()
            self.manifest = self._manifest()
            self.report = self._report()
            self._check_tables()
            for name in self._entries:
                if not _TABLE.fullmatch(name):
                    self._content(name)
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._open.close()

    def written(self) -> dict[str, Any]:
        """Return the report as its file has it."""
        found: dict[str, Any] = json.loads(self._content(_FINDINGS))
        return found

    def copy_into(self, store: Store) -> None:
        """Publish the snapshot and its report in a store. Its tables are written anew, without those that are not known here.

        Raises:
            SnapshotError: as `Store.adopt`; or a table has more rows than any cluster, or a value that its column cannot have.
        """
        room, contents, tables = parquet.Room(rows=MOST_ROWS, bytes=MOST_UNPACKED), {}, {}
        for table in TABLES:
            if (name := table.table()) in self.manifest.tables:
                data = self._table(table, room)
                contents[name] = parquet.encode(
                    table, data, snapshot_id=self.manifest.snapshot_id, cluster_id=self.manifest.cluster_id
                )
                tables[name] = TableFile(rows=data.num_rows, **asdict(_entry(contents[name])))
        kept = [name for name in (_FINDINGS, _DIFFERENCES) if name in self._entries]
        others = {name.removeprefix("snapshot/"): self._content(name) for name in kept}
        imported = replace(self.manifest, tables=tables, imported=self._entries[_FINDINGS].sha256)
        store.adopt(imported, contents, others)

    def _table(self, table: type[Row], room: parquet.Room) -> pa.Table:
        name = f"snapshot/{table.table()}.parquet"
        try:
            data = parquet.decode_checked(table, self._content(name), room)
        except (ValueError, OSError) as error:
            self._refuse(name, str(error))
        if data.num_rows != self.manifest.tables[table.table()].rows:
            self._refuse(name, f"has {data.num_rows} rows, but the manifest has {self.manifest.tables[table.table()].rows}")
        return data

    def _content(self, name: str) -> bytes:
        """Return an entry; raises `SnapshotError` where it is not as `bundle.json` describes it."""
        content, expected = self._read(name), self._entries[name]
        if _entry(content) != expected:
            self._refuse(name, "does not match its size or checksum in bundle.json")
        return content

    def _opened(self, path: Path, stack: contextlib.ExitStack) -> zipfile.ZipFile:
        try:
            if not path.exists():
                self._refuse(None, "does not exist", "name an existing bundle")
            if not path.is_file():  # a pipe would be waited for
                self._refuse(None, "is not a regular file", "name a bundle")
            stream = stack.enter_context(_BoundedFile(path))
        except OSError as error:
            self._refuse(None, error.strerror or str(error), "grant this user read access, or name another bundle")
        with self._damage(None):
            return stack.enter_context(zipfile.ZipFile(stream))

    def _listed(self) -> dict[str, zipfile.ZipInfo]:
        """Return the entries of the ZIP file, within bounds; nothing is decompressed before."""
        infos = self._archive.infolist()
        if len(infos) > MOST_ENTRIES:
            self._refuse(None, f"has {len(infos)} entries, a bundle has at most {MOST_ENTRIES}")
        for info in infos:
            if info.file_size > MOST_ENTRY_BYTES:
                self._refuse(
                    info.filename, f"has {info.file_size >> 20} MB, an entry of a bundle at most {MOST_ENTRY_BYTES >> 20}"
                )
            if info.flag_bits & _ENCRYPTED or info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                self._refuse(info.filename, "is encrypted, or compressed as no entry of a bundle is")
            if stat.S_IFMT(info.external_attr >> 16) not in {0, stat.S_IFREG} or info.filename.endswith("/"):
                self._refuse(info.filename, "is a link, a folder or a device; a bundle has only files")
        if (size := sum(info.file_size for info in infos)) > MOST_BYTES:
            self._refuse(None, f"has {size >> 20} MB of entries, a bundle has at most {MOST_BYTES >> 20}")
        by_name = {info.filename: info for info in infos}
        if len(by_name) < len(infos):
            names = [info.filename for info in infos]
            self._refuse(next(name for name in names if names.count(name) > 1), "is there twice")
        return by_name

    def _contents(self) -> dict[str, _Entry]:
        """Return what `bundle.json` says of the other entries; they are all there, and no others are."""
        if _CONTENTS not in self._infos:
            self._refuse(None, f"is not a bundle: {_CONTENTS} is missing", "name a file that `kafka-audit bundle` wrote")
        try:
            raw = json.loads(self._read(_CONTENTS))
            version, self._snapshot_id = raw["schema_version"], raw["snapshot_id"]
            newer = isinstance(version, int) and version > SCHEMA_VERSION
            entries = {} if newer else {name: _Entry(**entry) for name, entry in raw["entries"].items()}
            valid = newer or (version == SCHEMA_VERSION and cluster_of(self._snapshot_id) is not None)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            valid = False
        if not valid:
            self._refuse(_CONTENTS, "is not the list of a bundle's entries (truncated or edited)")
        if newer:
            written = f"was written by a newer version (schema {version}, this version supports {SCHEMA_VERSION})"
            self._refuse(_CONTENTS, written, "upgrade kafka-audit")
        for name in self._infos.keys() - {_CONTENTS}:
            if name not in _OTHERS and not _TABLE.fullmatch(name):
                self._refuse(name, "is not the name of an entry of a bundle")
            if name not in entries:
                self._refuse(name, "is not in the list of bundle.json")
        for name in (*_NEEDED, *sorted(entries)):
            if name not in self._infos:
                self._refuse(name, "is missing")
        return entries

    def _manifest(self) -> Manifest:
        place = f"{self._place}: {_MANIFEST}"
        found = Manifest.from_json(self._content(_MANIFEST), place=place, snapshot_id=self._snapshot_id, way_out=_NEW_ONE)
        texts = (found.cluster, found.cluster_id, found.tool_version)
        numbers = (found.started_ms, found.finished_ms, found.schema_version, *(table.rows for table in found.tables.values()))
        if not all(isinstance(text, str) for text in texts) or not all(type(number) is int for number in numbers):
            self._refuse(_MANIFEST, "is not a valid manifest (edited)")
        if found.cluster != cluster_of(found.snapshot_id):
            self._refuse(_MANIFEST, "is of another cluster than its snapshot")
        return found

    def _report(self) -> Report:
        try:
            report = reports.parse_report(self._content(_FINDINGS))
        except ValueError as error:
            self._refuse(_FINDINGS, str(error), "render it with the version that wrote it, or ask for a new bundle")
        about = (self.manifest.cluster, self.manifest.cluster_id)
        if not reports.are_past(report.started_at, report.finished_at):
            self._refuse(_FINDINGS, "does not name two times in the past as started_at and finished_at")
        if not reports.can_be_shown(report, self.manifest.snapshot_id) or (report.cluster, report.cluster_id) != about:
            self._refuse(_FINDINGS, "is not a report of this snapshot that this version can show")
        return report

    def _check_tables(self) -> None:
        """Raise where the tables are not those of the manifest, or one is not a table that this version can read."""
        known = {table.table(): table for table in TABLES}
        there = {match["table"]: name for name in self._entries if (match := _TABLE.fullmatch(name))}
        for table in sorted(self.manifest.tables.keys() ^ there.keys()):
            self._refuse(f"snapshot/{table}.parquet", "is missing" if table not in there else "is not a table of the manifest")
        for table, name in there.items():
            content = self._content(name)
            entry, described = self._entries[name], self.manifest.tables[table]
            if (described.bytes, described.sha256) != (entry.bytes, entry.sha256):
                self._refuse(name, "is not the table that the manifest describes")
            if table in known:
                try:
                    parquet.require_columns(known[table], content)
                except (ValueError, OSError) as error:
                    self._refuse(name, f"is not a table that this version can read ({error})")

    def _read(self, name: str) -> bytes:
        """Return an entry's content; no more of it is decompressed than the ZIP file says that it has."""
        info = self._infos[name]
        content = bytearray()
        with self._damage(name), self._archive.open(info) as stream:
            while chunk := stream.read(_CHUNK):
                content += chunk
        return bytes(content)

    @contextlib.contextmanager
    def _damage(self, name: str | None) -> Iterator[None]:
        try:
            yield
        except (*_DAMAGE, OSError) as error:
            self._refuse(name, f"is damaged, or no part of a ZIP file ({clean(error)})")

    def _refuse(self, name: str | None, problem: str, way_out: str = _NEW_ONE) -> NoReturn:
        place = self._place if name is None else f"{self._place}: {clean(name)}"
        msg = f"{place}: {problem}; {way_out}"
        raise SnapshotError(msg) from None
