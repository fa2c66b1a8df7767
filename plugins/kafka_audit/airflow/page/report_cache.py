"""Reports and their digests, kept in memory while their files stay the same: a timeline must not parse megabytes each time."""

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from msgspec import structs, to_builtins

from kafka_audit.airflow.page import errors
from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.report import Report
from kafka_audit.report.digest import Digest, read_digest
from kafka_audit.store.history import History

_DIGESTS = 5000
_LINKS = 20_000  # two years by the hour, of a twentieth of the size
_DOCUMENTS = 8
_BYTES = 64 << 20
"""Of text, of all values of a kind; in memory they take about three times as much. A party can make its report large."""
_BELIEVED_SECONDS = 60.0
_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True)
class _Kept:
    digest: Digest
    written: datetime | None
    checked: float  # time.monotonic()


class RecentValues(Generic[_Value]):
    """The most recently used values of a number of keys and bytes; safe between threads."""

    def __init__(self, most: int, most_bytes: int = _BYTES) -> None:
        """Keep at most that many."""
        self._most, self._most_bytes = most, most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[_Value, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable) -> _Value | None:
        """Return what is kept, None where nothing is."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: Hashable, value: _Value, size: int) -> None:
        """Keep a value of so many bytes, unless it is too large, and forget those that were not asked for the longest."""
        with self._lock:
            self._forget(key)
            if size > self._most_bytes:
                return
            self._kept[key] = value, size
            self._bytes += size
            while len(self._kept) > self._most or self._bytes > self._most_bytes:
                self._forget(next(iter(self._kept)))

    def forget(self, gone: Callable[[Hashable], bool]) -> None:
        """Forget the values of those keys."""
        with self._lock:
            for key in [key for key in self._kept if gone(key)]:
                self._forget(key)

    def _forget(self, key: Hashable) -> None:
        self._bytes -= self._kept.pop(key, (None, 0))[1]


class ReportCache:
    """What pages read of a store."""

    def __init__(self) -> None:
        """Begin with nothing in memory."""
        self._digests: RecentValues[_Kept] = RecentValues(_DIGESTS)
        self._links: RecentValues[_Kept] = RecentValues(_LINKS)
        self._documents: RecentValues[Report] = RecentValues(_DOCUMENTS)

    def document(self, root: str, snapshot_id: str) -> Report | None:
        """Return a report, None where there is none; raises `SnapshotError` for one that cannot be shown."""
        history = History(root)
        key = (root, snapshot_id, history.written(snapshot_id))
        document = self._documents.get(key)
        if document is None:
            document = history.report(snapshot_id)
            if document is not None:
                self._documents.put(key, document, len(json.dumps(to_builtins(document))))
        return document

    def snapshots(self, root: str) -> Mapping[str, Sequence[str]]:
        """Return the ids of all snapshots by cluster, the newest first, and forget digests of those that the store has not."""
        by_cluster = History(root).snapshots()
        stored = {snapshot_id for ids in by_cluster.values() for snapshot_id in ids}
        for values in (self._digests, self._links):
            values.forget(lambda key: isinstance(key, tuple) and key[0] == root and key[1] not in stored)
        return by_cluster

    def digests(self, root: str, snapshot_ids: Sequence[str], most: int, min_coverage: float) -> tuple[list[Digest], list[str]]:
        """Return digests of the first `most` judged snapshots in that order, and why others of them cannot be shown.

        The time of the first report is read each time; of those behind it, one that was read less than a minute ago is believed:
        in an object store each is a request.
        """
        return self._read(root, snapshot_ids, most, min_coverage, self._digests)

    def chain(self, root: str, snapshot_ids: Sequence[str], min_coverage: float) -> list[Digest]:
        """Return digests of all judged snapshots that can be shown, without lanes and results: a comparison reads neither."""
        return self._read(root, snapshot_ids, len(snapshot_ids), min_coverage, self._links)[0]

    def _read(
        self, root: str, snapshot_ids: Sequence[str], most: int, min_coverage: float, values: RecentValues[_Kept]
    ) -> tuple[list[Digest], list[str]]:
        history = History(root)
        digests: list[Digest] = []
        problems: list[str] = []
        for snapshot_id in snapshot_ids:
            if len(digests) >= most:
                break
            try:
                digest = self._digest(history, (root, snapshot_id, min_coverage), values, believe=bool(digests))
            except SnapshotError as error:
                problems.append(f"Snapshot {snapshot_id}: {errors.sentence(error)}")
            else:
                digests += [digest] if digest else []
        return digests, problems

    def _digest(
        self, history: History, key: tuple[str, str, float], values: RecentValues[_Kept], *, believe: bool
    ) -> Digest | None:
        kept = values.get(key)
        if kept is not None and believe and time.monotonic() - kept.checked < _BELIEVED_SECONDS:
            return kept.digest
        _, snapshot_id, min_coverage = key
        written = history.written(snapshot_id)
        if kept is not None and kept.written == written:
            digest: Digest | None = kept.digest
        else:
            digest = read_digest(history, snapshot_id, written, min_coverage) if written else None
        if digest is not None:
            digest = structs.replace(digest, lanes=(), results={}) if values is self._links else digest
            values.put(key, _Kept(digest=digest, written=written, checked=time.monotonic()), len(repr(digest)))
        return digest
