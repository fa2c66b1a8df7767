"""Snapshots, requests, answers and reports below one root.

    ROOT/snapshots/<id>/<table>.parquet        all views and probes of one run; a table that is the same as in the snapshot before
                                               stays where it is, and the manifest names the snapshot that has it
    ROOT/snapshots/<id>/manifest.json          written last: the snapshot is published, and immutable
    ROOT/snapshots/<id>/findings.json          the report, once it is judged (findings.json.gz after a day, a large one at once);
                                               beside it, findings.digest.json in short, and
    ROOT/snapshots/<id>/differences.json       what the difference tables hold, on which it rests
    ROOT/clusters/<cluster>/findings.json      the newest report of a cluster
    ROOT/findings.json                         the newest report of the newest run
    ROOT/runs/<run_id>/                        what goes to Spark and comes back (`model.run`)
    ROOT/.staging/                             what is being written

A folder without a manifest is a write that did not end: readers ignore it. `store.pruning` deletes old snapshots.
"""

import contextlib
import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

import pyarrow as pa
from msgspec import structs

from kafka_audit.model.cluster import Keep
from kafka_audit.model.errors import EngineError, SnapshotError, StoreError
from kafka_audit.model.report import Report, report_text
from kafka_audit.model.run import JobAnswer, JudgedSnapshot, Request, run_path
from kafka_audit.model.tables import LARGE, TABLES, RegisteredBroker, Row, Sample, Snapshot, SnapshotInfo, SourceRead, ViewBroker
from kafka_audit.model.text import did_you_mean
from kafka_audit.store import parquet, pruning, refused, reports
from kafka_audit.store.files import Files
from kafka_audit.store.local_disk import STAGING
from kafka_audit.store.manifest import Manifest, TableFile, cluster_of, is_of_future, require_past

log = logging.getLogger(__name__)
_T = TypeVar("_T")
_DIFFERENCES = "differences.json"
_TROUBLES = "troubles.json"
BUNDLE: Final = "bundle"
"""The origin of a report that another party wrote."""

_OF_THE_RUN = frozenset({SnapshotInfo.table(), Sample.table(), SourceRead.table()})  # they have times, and are never shared
_MOST_UNLIKE = 50  # newer snapshots without a cluster id, as of an outage, that are passed over in search of one to share with


class Store:
    """A root and everything below it. Whatever reads or writes raises `StoreError` where the place refuses.

    Attributes:
        root: the absolute path, or the URL, that Spark gets.
    """

    def __init__(self, root: str | os.PathLike[str], *, keep: int = 0) -> None:
        """Open a store; raises `UsageError` where its root is no place for one. Nothing is created before the first write.

        Args:
            root: the folder or URL.
            keep: so many snapshots are decoded only once, without their tables in `LARGE`: what is published stays as it is.
        """
        self._files = Files(root)
        self.root = self._files.root
        self._small = lru_cache(keep)(self._read_small)

    def prepare(self) -> None:
        """Create the root; raises `StoreError` if it is not writable. For a check before an audit."""
        self._files.prepare()

    def write(self, snapshot: Snapshot) -> None:
        """Publish a snapshot: every table that is not the same as in the newest one of its cluster, then the manifest.

        What an interrupted write left under the same id is replaced. Writing the same snapshot twice changes nothing.

        Raises:
            SnapshotError: another snapshot was published under this id.
        """
        folder = _folder(snapshot.snapshot_id)
        existing = self._files.read(f"{folder}/manifest.json")
        if existing is not None:
            with contextlib.suppress(SnapshotError):
                published = self.manifest(snapshot.snapshot_id)
                if _encode(snapshot, published)[1] == published:
                    return
            msg = f"{self._files.place(folder)}: is already published, and a published snapshot is immutable; take a new snapshot"
            raise SnapshotError(msg)
        with self._publishing(snapshot.snapshot_id) as mark:
            contents, manifest = self._sharing(snapshot, mark)
            for table, content in contents.items():
                if manifest.holder(table) == snapshot.snapshot_id:
                    self._files.write(f"{folder}/{table}.parquet", content)
            self._files.write(f"{folder}/manifest.json", manifest.to_json().encode())

    @contextlib.contextmanager
    def _publishing(self, snapshot_id: str) -> Iterator[str]:
        """Yield the path of the mark of a snapshot; its folder is empty before, and gone where the store refuses a file."""
        folder = _folder(snapshot_id)
        for name in self._files.names(folder):
            self._files.remove(f"{folder}/{name}")
        mark = f"{STAGING}/{snapshot_id}"  # by which what a killed audit leaves is found again
        try:
            yield mark
        except StoreError:
            with contextlib.suppress(StoreError):  # what does not fit must not make a full disk fuller at each try
                self._files.remove_folder(folder)
                self._files.remove(mark)
            raise
        self._files.remove(mark)

    def adopt(self, manifest: Manifest, tables: Mapping[str, bytes], others: Mapping[str, bytes]) -> None:
        """Publish a snapshot that another store published, each table in its own folder.

        Args:
            manifest: of the snapshot; no table of it is stored elsewhere.
            tables: the file of each of its tables, by name.
            others: further files of its folder, by name: `findings.json`, `differences.json`.

        Raises:
            SnapshotError: there is a snapshot of this id, or one of a cluster that has the same name and another id; or it is of
                the future.
        """
        own, folder = manifest.snapshot_id, _folder(manifest.snapshot_id)
        try:
            require_past(manifest)
        except ValueError as error:
            msg = f"snapshot {own}: {error}"
            raise SnapshotError(msg) from None
        for name in self._files.names("snapshots"):
            if cluster_of(name) == manifest.cluster and (found := self._manifest(name)) is not None:
                if name == own:
                    msg = f"{self._files.place(folder)}: this snapshot is in the store already"
                    raise SnapshotError(msg)
                if found.cluster_id != manifest.cluster_id:
                    msg = (
                        f"{self._files.place(_folder(name))}: is of another cluster of the name {manifest.cluster}"
                        f" (id {found.cluster_id}, not {manifest.cluster_id}); name another store"
                    )
                    raise SnapshotError(msg)
        with self._publishing(own) as mark:
            self._files.write(mark, "".join(f"{own}/{name}\n" for name in tables).encode())
            for name, content in tables.items():
                self._files.write(f"{folder}/{name}.parquet", content)
            for name, content in others.items():
                self._files.write(f"{folder}/{name}", content)
            self._files.write(f"{folder}/manifest.json", manifest.to_json().encode())

    def _sharing(self, snapshot: Snapshot, mark: str) -> tuple[dict[str, bytes], Manifest]:
        """Return what `_encode` does, with the tables shared that an earlier snapshot has, and write the mark.

        The mark holds the files that the snapshot will name. It is written before the earlier snapshot is looked at a last time:
        `pruning` unpublishes a snapshot before it reads marks, so one of the two sees the other.
        """
        earlier = self._newest_of(snapshot)
        contents, manifest = _encode(snapshot, earlier)
        self._files.write(mark, "".join(f"{manifest.holder(table)}/{table}\n" for table in contents).encode())
        if earlier is None:
            return contents, manifest
        if self._files.read(f"{_folder(earlier.snapshot_id)}/manifest.json") is None:
            return _encode(snapshot, None)
        own = snapshot.snapshot_id
        lost = {
            table
            for table, content in contents.items()
            if manifest.holder(table) != own and self._files.read(_path(manifest, table)) != content
        }
        if not lost:
            return contents, manifest
        # Not a warning: the comparison with that snapshot reports its damaged file, with the remedy.
        log.info("%s of snapshot %s: files are missing or damaged", ", ".join(sorted(lost)), earlier.snapshot_id)
        intact = {table: file for table, file in earlier.tables.items() if table not in lost}
        return _encode(snapshot, replace(earlier, tables=intact))

    def _newest_of(self, snapshot: Snapshot) -> Manifest | None:
        """Return the newest manifest of the same cluster and cluster id; None where none is near."""
        own = (name for name in reversed(self._files.names("snapshots")) if cluster_of(name) == snapshot.cluster)
        for name in islice((name for name in own if name != snapshot.snapshot_id), _MOST_UNLIKE):
            with contextlib.suppress(SnapshotError):  # damaged: nothing is shared with it
                found = self._manifest(name)
                if found is not None and found.cluster_id == snapshot.cluster_id:
                    return found
        return None

    def read(self, snapshot_id: str, *, large: bool = True) -> Snapshot:
        """Return a published snapshot, each file held against the manifest first.

        Args:
            snapshot_id: which.
            large: False leaves the tables in `LARGE` unread, as if they were empty.

        Raises:
            SnapshotError: not published, a file is missing, changed or unreadable; the message names it.
        """
        small = self._small(snapshot_id)
        if not large:
            return small
        manifest = self.manifest(snapshot_id)
        there = [table for table in LARGE if table.table() in manifest.tables]
        return replace(small, large=MappingProxyType({table: self._read_table(manifest, table) for table in there}))

    def _read_small(self, snapshot_id: str) -> Snapshot:
        manifest = self.manifest(snapshot_id)
        there = [table for table in TABLES if table.table() in manifest.tables]  # an older snapshot lacks those added since
        small = [table for table in there if table not in LARGE]
        return Snapshot(
            snapshot_id=snapshot_id,
            cluster=manifest.cluster,
            cluster_id=manifest.cluster_id,
            rows=tuple(row for table in small for row in parquet.rows_of(table, self._read_table(manifest, table))),
        )

    def verify(self, snapshot_id: str) -> None:
        """Raise as `read` does where a snapshot cannot be compared with: files, columns and report; rows are not decoded."""
        self.verify_tables(snapshot_id)
        report = self.read_report(snapshot_id)
        if report is not None and report.snapshot_id != snapshot_id:
            raise self._no_report(snapshot_id, "is not a report of this snapshot that this version can read")

    def verify_tables(self, snapshot_id: str) -> None:
        """Raise as `read` does where a snapshot cannot be judged: files and columns; rows are not decoded."""
        manifest = self.manifest(snapshot_id)
        tables = {table.table(): table for table in TABLES}
        for name in manifest.tables:
            content = self.table_file(manifest, name)
            if name in tables:
                with self._named_errors(manifest, name):
                    parquet.require_columns(tables[name], content)

    def _read_table(self, manifest: Manifest, table: type[Row]) -> pa.Table:
        content = self.table_file(manifest, table.table())
        with self._named_errors(manifest, table.table()):
            found = parquet.decode(table, content)
        expected = manifest.tables[table.table()].rows
        if found.num_rows != expected:
            raise self._damaged(manifest, table.table(), f"has {found.num_rows} rows, but the manifest has {expected}")
        return found

    @contextlib.contextmanager
    def _named_errors(self, manifest: Manifest, name: str) -> Iterator[None]:
        try:
            yield
        except (ValueError, OSError) as error:
            raise self._damaged(manifest, name, f"is not a table that this version can read ({error})") from error

    def table_file(self, manifest: Manifest, name: str) -> bytes:
        """Return the file of a table; raises `SnapshotError` where it is not as the manifest describes it."""
        expected = manifest.tables[name]
        content = self._files.read(_path(manifest, name))
        if content is None:
            raise self._damaged(manifest, name, "is missing")
        if len(content) != expected.bytes:
            raise self._damaged(manifest, name, f"has {len(content)} bytes, but the manifest has {expected.bytes}")
        if hashlib.sha256(content).hexdigest() != expected.sha256:
            raise self._damaged(manifest, name, "does not match the checksum of the manifest")
        return content

    def local_table(self, manifest: Manifest, name: str, folder: Path) -> Path:
        """Return the path of a table's file on this machine, in `folder` where the store is elsewhere; raises as `table_file`."""
        content = self.table_file(manifest, name)
        if "://" not in self.root:
            return Path(self.root, _path(manifest, name))
        copy = folder / f"{manifest.holder(name)}-{name}.parquet"
        copy.write_bytes(content)
        return copy

    def _damaged(self, manifest: Manifest, name: str, problem: str) -> SnapshotError:
        place, own = self._files.place(_path(manifest, name)), manifest.snapshot_id
        snapshot = "the snapshot" if manifest.holder(name) == own else f"snapshot {own}, which shares the file,"
        way_out = f"remove {own}/manifest.json, or select another baseline (--baseline ID, or none)"
        return SnapshotError(f"{place}: {problem}; {snapshot} cannot be used: {way_out}", path=_path(manifest, name))

    def manifest(self, snapshot_id: str) -> Manifest:
        """Return the manifest of a published snapshot; raises `SnapshotError` with the nearest id where there is none."""
        found = self._manifest(snapshot_id) if cluster_of(snapshot_id) else None
        if found is None:
            near = did_you_mean(snapshot_id, [name for name in self._files.names("snapshots") if name != snapshot_id])
            msg = f"{self.root}: this store has no snapshot {snapshot_id!r}{near}"
            raise SnapshotError(msg)
        return found

    def _manifest(self, snapshot_id: str) -> Manifest | None:
        path = f"{_folder(snapshot_id)}/manifest.json"
        text = self._files.read(path)
        return None if text is None else Manifest.from_json(text, place=self._files.place(path), snapshot_id=snapshot_id)

    def clusters(self) -> list[str]:
        """Return the names of all clusters that have a snapshot, in order."""
        return sorted({cluster for name in self._files.names("snapshots") if (cluster := cluster_of(name)) is not None})

    def instead_of(self, cluster: str) -> str:
        """Return the end of an error about a cluster that has no snapshot: the one that may be meant, or all there are."""
        known = self.clusters()
        return did_you_mean(cluster, known) or (f"; the clusters are {', '.join(known)}" if known else "; the store is empty")

    def newest(self, cluster: str) -> Manifest | None:
        """Return the manifest of the newest published snapshot of a cluster, none of the future; raises `SnapshotError`."""
        own = (
            name for name in reversed(self._files.names("snapshots")) if cluster_of(name) == cluster and not is_of_future(name)
        )
        return next(filter(None, map(self._manifest, own)), None)

    def brokers_of_newest(self, cluster: str) -> frozenset[int]:
        """Return the brokers that the newest snapshot of a cluster shows as registered; none where it cannot be read."""
        found: set[int] = set()
        try:
            if (manifest := self.newest(cluster)) is not None:
                for table in (RegisteredBroker, ViewBroker):
                    if table.table() in manifest.tables:
                        found.update(self._read_table(manifest, table).column("broker_id").to_pylist())
        except SnapshotError as error:
            log.warning("brokers of the newest snapshot of %s: %s", cluster, error)
        return frozenset(found)

    def manifests(self) -> list[Manifest]:
        """Return the manifests of all published snapshots, newest first; raises `SnapshotError` at one that cannot be read."""
        found = (self._manifest(name) for name in self._files.names("snapshots"))
        return sorted((m for m in found if m), key=lambda m: (m.started_ms, m.snapshot_id), reverse=True)

    def previous(self, of: Manifest | Snapshot, *, damaged: Callable[[SnapshotError], None] | None = None) -> str | None:
        """Return the id of the newest published snapshot of the same cluster id that is older than `of`, None without one.

        Where nothing answered that knows the id, it is the newest of the same name, whether that one has an id or not.

        Ids sort by time, so only the newest manifests are read. One that cannot be read and whose name says this cluster could
        be the one to compare with. That of another cluster is logged and skipped.

        Args:
            of: what is to be compared.
            damaged: receives each snapshot that would match but is damaged, or its report is; the next older one is taken. Of
                snapshots that share a damaged file it receives the newest. Without it such a snapshot raises, and only its
                manifest is checked.

        Raises:
            SnapshotError: a manifest of this cluster cannot be read, and `damaged` is not set.
        """
        started = of.started_ms if isinstance(of, Manifest) else of.of(SnapshotInfo)[0].started_ms
        own_stamp, bad, is_known = _stamp(of.snapshot_id), set[str](), not of.cluster_id.startswith(Snapshot.UNKNOWN_ID)
        names = [n for n in self._files.names("snapshots") if n != of.snapshot_id and cluster_of(n) and _stamp(n) <= own_stamp]
        for _, same_second in groupby(reversed(names), key=_stamp):
            manifests = [self._candidate(name, of.cluster, damaged) for name in same_second]
            same = (m for m in manifests if m and (m.cluster_id == of.cluster_id if is_known else m.cluster == of.cluster))
            older = [m for m in same if m.started_ms < started]
            for found in sorted(older, key=lambda m: m.started_ms, reverse=True):
                if damaged is None or self._is_complete(found, bad, damaged):
                    return found.snapshot_id
        return None

    def _candidate(self, name: str, cluster: str, damaged: Callable[[SnapshotError], None] | None) -> Manifest | None:
        try:
            return self._manifest(name)
        except SnapshotError as error:
            if cluster_of(name) != cluster:
                log.warning("skipped while searching a baseline for %s: %s", cluster, error)
            elif damaged is None:
                raise
            else:
                damaged(error)
            return None

    def _is_complete(self, manifest: Manifest, bad: set[str], damaged: Callable[[SnapshotError], None]) -> bool:
        """Return whether a snapshot can be compared with; `bad` are paths of damaged files, which older snapshots may share."""
        if not bad.isdisjoint(_path(manifest, name) for name in manifest.tables):
            return False
        try:
            self.verify(manifest.snapshot_id)
        except SnapshotError as error:
            bad |= {error.path} if error.path else set()
            damaged(error)
            return False
        return True

    def write_request(self, request: Request) -> None:
        """Write what the job is asked."""
        self._files.write(run_path(request.run_id, "request.json"), request.to_json().encode())

    def write_for_job(self, run_id: str, name: str, content: bytes) -> None:
        """Put a file beside a run's request."""
        self._files.write(run_path(run_id, name), content)

    def write_troubles(self, run_id: str, text: str) -> None:
        """Put what the clusters of a run may share a cause of beside its request, for the alerts."""
        self._files.write(run_path(run_id, _TROUBLES), text.encode())

    def read_troubles(self, run_id: str) -> str | None:
        """Return what `write_troubles` wrote, None where a run came to no report."""
        text = self._files.read(run_path(run_id, _TROUBLES))
        return None if text is None else text.decode(errors="replace")

    def read_request(self, run_id: str) -> Request:
        """Return what Spark was asked; raises `EngineError` for a run that asked nothing."""
        path = run_path(run_id, "request.json")
        text = self._files.read(path)
        if text is None:
            msg = f"{self._files.place(path)}: does not exist; this run has no request for Spark"
            raise EngineError(msg)
        return Request.from_json(text.decode())

    def write_judged(self, run_id: str, judged: JudgedSnapshot) -> None:
        """Write the answer on one snapshot of a run."""
        self._files.write(run_path(run_id, f"judged/{judged.snapshot_id}.json"), judged.to_json().encode())

    def write_answer(self, run_id: str, answer: JobAnswer) -> None:
        """Write which snapshots of a run were judged: the run is answered."""
        self._files.write(run_path(run_id, "answer.json"), answer.to_json().encode())

    def read_answer(self, run_id: str) -> JobAnswer:
        """Return which snapshots were judged; raises `EngineError` where Spark ended without an answer, or it is none."""
        return self._read_of_run(run_id, "answer.json", JobAnswer.from_json)

    def read_judged(self, run_id: str, snapshot_id: str) -> JudgedSnapshot:
        """Return the answer on one snapshot; raises `EngineError` where it is not there, or is none."""
        return self._read_of_run(run_id, f"judged/{snapshot_id}.json", JudgedSnapshot.from_json)

    def _read_of_run(self, run_id: str, name: str, decode: Callable[[str], _T]) -> _T:
        path = run_path(run_id, name)
        text = self._files.read(path)
        if text is None:
            msg = f"{self._files.place(path)}: is missing: the result of Spark is incomplete; see its log"
            raise EngineError(msg)
        try:
            return decode(text.decode())
        except (ValueError, KeyError, TypeError) as error:
            msg = f"{self._files.place(path)}: the result of Spark cannot be read: {error!r}"
            raise EngineError(msg) from error

    def conclude_run(self, run_id: str) -> None:
        """Mark a run as done: it is not resumed, and of its files only those stay that readers need."""
        pruning.mark_concluded(self._files, run_id)

    def remove_leftovers(self, now: datetime | None = None) -> None:
        """Remove what writes left that were killed a day ago or more; raises `StoreError` where that cannot be removed."""
        pruning.remove_write_leftovers(self._files, now or datetime.now(UTC))

    def prune(self, cluster: str, keep: Keep, now: datetime | None = None) -> None:
        """Forget the snapshots that a cluster has beyond `keep`, and runs without snapshots; `store.pruning` says what stays."""
        pruning.prune(self._files, cluster, keep, now or datetime.now(UTC))

    def write_report(self, snapshot_id: str, report: Report, *, newest: bool = True) -> None:
        """Write the report on a snapshot.

        `newest` makes it the cluster's and the store's current one, too, unless a later snapshot of the cluster has a report: of
        two audits of a cluster, the one that began first may end last.
        """
        content = report_text(report).encode()
        reports.write(self._files, snapshot_id, content)
        if newest and not self._has_later_report(snapshot_id):
            self._files.write(f"clusters/{report.cluster}/{reports.REPORT}", content)
            self._files.write(reports.REPORT, content)

    def _has_later_report(self, snapshot_id: str) -> bool:
        cluster, names = cluster_of(snapshot_id), self._files.names("snapshots")
        later = (name for name in names if name > snapshot_id and cluster_of(name) == cluster and not is_of_future(name))
        return any(reports.written_at(self._files, name) is not None for name in later)

    def write_rendering(self, snapshot_id: str, form: str, content: str, *, newest: bool = True) -> str:
        """Write a report in another form beside it, `newest` beside the store's current one too; return where it lies."""
        name = f"findings.{form}"
        places = [f"{_folder(snapshot_id)}/{name}", *([name] if newest else [])]
        for place in places:
            self._files.write(place, content.encode())
        return self._files.place(places[-1])

    def read_report(self, snapshot_id: str) -> Report | None:
        """Return the report on a snapshot, None where it was not judged; raises `SnapshotError` where it cannot be read."""
        text = reports.read_text(self._files, snapshot_id)
        if text is None:
            return None
        try:
            return reports.parse_report(text)
        except ValueError as error:
            raise self._no_report(snapshot_id, str(error)) from None

    def shown_report(self, snapshot_id: str) -> Report | None:
        """Return what `read_report` does, for readers: with `origin` where the report came with an imported snapshot."""
        report, manifest = self.read_report(snapshot_id), None
        with contextlib.suppress(SnapshotError):  # damaged: the report is there, whatever becomes of the tables
            manifest = None if report is None else self._manifest(snapshot_id)
        if report is None or manifest is None or manifest.imported is None:
            return report
        text = reports.read_text(self._files, snapshot_id) or b""
        is_theirs = hashlib.sha256(text).hexdigest() == manifest.imported
        return structs.replace(report, origin=BUNDLE) if is_theirs else report

    def write_differences(self, snapshot_id: str, differences: Mapping[str, Any]) -> None:
        """Write what the difference tables of a judged snapshot hold: its report rests on them."""
        self._files.write(f"{_folder(snapshot_id)}/{_DIFFERENCES}", json.dumps(differences).encode())

    def read_differences(self, snapshot_id: str) -> dict[str, Any]:
        """Return what `write_differences` wrote; raises `SnapshotError` where it is not there or cannot be read."""
        path = f"{_folder(snapshot_id)}/{_DIFFERENCES}"
        text = self._files.read(path)
        try:
            differences = json.loads(text or b"")
        except (ValueError, RecursionError):
            differences = None
        if not isinstance(differences, dict):
            msg = f"{self._files.place(path)}: {'is missing' if text is None else 'cannot be read'}; judge the snapshot again"
            raise SnapshotError(msg)
        return differences

    def _no_report(self, snapshot_id: str, problem: str) -> SnapshotError:
        place = self._files.place(reports.report_path(self._files, snapshot_id))
        return SnapshotError(f"{place}: {problem}; remove it; only the history of findings is lost")


def _folder(snapshot_id: str) -> str:
    return f"snapshots/{snapshot_id}"


def _path(manifest: Manifest, table: str) -> str:
    """Return where the file of a table is."""
    return f"{_folder(manifest.holder(table))}/{table}.parquet"


def _stamp(snapshot_id: str) -> str:
    return snapshot_id.partition("-")[0]


def _file(
    snapshot: Snapshot, table: type[Row], rows: Sequence[Row], columns: pa.Table | None = None, earlier: Manifest | None = None
) -> tuple[bytes, TableFile]:
    """Return the file of a table and what the manifest says of it: that of the earlier snapshot if it has the same rows.

    Each row holds the id of the snapshot whose folder has the file.
    """
    data, own = parquet.joined(table, rows, columns), snapshot.snapshot_id
    known = None if earlier is None or table.table() in _OF_THE_RUN else earlier.tables.get(table.table())
    holders = [own] if earlier is None or known is None or known.rows != data.num_rows else [earlier.holder(table.table()), own]
    for holder in holders:
        content = parquet.encode(table, data, snapshot_id=holder, cluster_id=snapshot.cluster_id)
        found = TableFile(
            rows=data.num_rows,
            bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            stored_in=None if holder == own else holder,
        )
        if known is not None and found.sha256 == known.sha256:
            break
    return content, found


def _without_refused(snapshot: Snapshot, table: type[Row], rows: Sequence[Row]) -> tuple[list[Row], list[tuple[Row, str]]]:
    """Return the rows that can be stored, and those that cannot with the reason; of SourceRead a row that says so instead."""

    def is_refused(row: Row) -> bool:
        try:
            _file(snapshot, table, [row])
        except parquet.REFUSALS:
            return True
        return False

    found = refused.culprits(rows, is_refused)
    lost = [(rows[index], text) for index, text in found.items()]
    for clause in dict.fromkeys(found.values()):
        log.warning("left out of snapshot %s: %s", snapshot.snapshot_id, clause)
    if table is SourceRead:
        return [refused.mended(row) if index in found else row for index, row in enumerate(rows)], lost  # type: ignore[arg-type]
    answers_lost = {refused.of_one_answer(row) for row, _ in lost} - {None}
    kept = [row for index, row in enumerate(rows) if index not in found and refused.of_one_answer(row) not in answers_lost]
    return kept, lost


def _encode(snapshot: Snapshot, earlier: Manifest | None) -> tuple[dict[str, bytes], Manifest]:
    """Return each table's file, and the manifest that describes them.

    Args:
        snapshot: what to store.
        earlier: the snapshot with which it shares tables that are the same.
    """
    rows: dict[type[Row], list[Row]] = {table: [] for table in TABLES}
    for row in snapshot.rows:
        rows[type(row)].append(row)
    columns: dict[type[Row], Any] = {**snapshot.large}
    found: dict[str, tuple[bytes, TableFile]] = {}
    lost: list[tuple[Row, str]] = []
    for table in sorted(TABLES, key=lambda table: table is SourceRead):  # last: it lists what the others left out
        if table is SourceRead and lost:
            rows[table] = [*refused.reads_with_lost_rows(rows[table], lost)]  # type: ignore[arg-type] # of that table
        try:
            found[table.table()] = _file(snapshot, table, rows[table], columns.get(table), earlier)
        except parquet.REFUSALS:
            if table in columns:  # collectors check what they put there, so this is a bug: row by row, to lose no other row by it
                rows[table] += parquet.rows_of(table, columns.pop(table))
            rows[table], left_out = _without_refused(snapshot, table, rows[table])
            lost += left_out
            found[table.table()] = _file(snapshot, table, rows[table], None, earlier)
    (info,) = snapshot.of(SnapshotInfo)
    files = {table.table(): found[table.table()] for table in TABLES}
    return {name: content for name, (content, _) in files.items()}, Manifest(
        snapshot_id=snapshot.snapshot_id,
        cluster=snapshot.cluster,
        cluster_id=snapshot.cluster_id,
        started_ms=info.started_ms,
        finished_ms=info.finished_ms,
        tool_version=info.tool_version,
        tables={name: file for name, (_, file) in files.items()},
    )
