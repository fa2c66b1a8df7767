"""Reports and their digests, kept in memory while their files stay the same: a timeline must not parse megabytes each time."""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

from kafka_audit.model.errors import SnapshotError
from kafka_audit.report.digest import Digest, condense
from kafka_audit.store.history import History

_DIGESTS = 5000
_DOCUMENTS = 8
_Value = TypeVar("_Value")


class Recent(Generic[_Value]):
    """The most recently used values of a number of keys; safe between threads."""

    def __init__(self, most: int) -> None:
        """Keep at most that many."""
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Value] = OrderedDict()

    def get(self, key: Hashable) -> _Value | None:
        """Return what is kept, None where nothing is."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Hashable, value: _Value) -> None:
        """Keep a value, and forget the one that was not asked for the longest."""
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)


class Reading:
    """What pages read of a store."""

    def __init__(self) -> None:
        """Begin with nothing in memory."""
        self._digests: Recent[Digest] = Recent(_DIGESTS)
        self._documents: Recent[dict[str, Any]] = Recent(_DOCUMENTS)

    def document(self, root: str, snapshot_id: str) -> dict[str, Any] | None:
        """Return a report, None where there is none; raises `SnapshotError` for one that cannot be shown."""
        history = History(root)
        key = (root, snapshot_id, history.written(snapshot_id))
        found = self._documents.get(key)
        if found is None:
            found = history.report(snapshot_id)
            if found is not None:
                self._documents.put(key, found)
        return found

    def digests(self, root: str, snapshot_ids: Sequence[str], most: int, min_coverage: float) -> tuple[list[Digest], list[str]]:
        """Return digests of the first `most` judged snapshots in that order, and why others of them cannot be shown."""
        history = History(root)
        found: list[Digest] = []
        problems: list[str] = []
        for snapshot_id in snapshot_ids:
            if len(found) >= most:
                break
            written = history.written(snapshot_id)
            if written is None:
                continue
            key = (root, snapshot_id, written, min_coverage)
            digest = self._digests.get(key)
            if digest is None:
                try:
                    document = history.report(snapshot_id)
                except SnapshotError as error:
                    problems.append(str(error))
                    continue
                if document is None:
                    continue
                digest = condense(document, min_coverage)
                self._digests.put(key, digest)
            found.append(digest)
        return found, problems
