"""Earlier reports, for pages: their list, their content, and the results of a run. Read-only."""

import contextlib
import json
import os
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.run import Request, run_path
from kafka_audit.store import Store, reports
from kafka_audit.store.files import Files
from kafka_audit.store.manifest import cluster_of

_ADDED_LATER: Mapping[str, Any] = MappingProxyType(
    {
        "mode": None,
        "lifecycle_counts": {},
        "resolved_incidents": [],
        "incomparable_incidents": [],
        "changes": [],
        "changes_omitted": 0,
        "never_asked": [],
        "passed_over": [],
    }
)
"""What reports of earlier versions lack, and a reader may take for empty."""


DIGEST = "digest.json"
"""The form of a report that spares reading it; see `Store.write_rendering`."""


class History:
    """The reports below a store's root; raises `UsageError` where that is no place for a store."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Open a store; nothing is read yet."""
        self._files = Files(root)
        self._store = Store(root)

    def snapshots(self) -> dict[str, list[str]]:
        """Return the ids of all snapshots by cluster, newest first; judged or not."""
        found: dict[str, list[str]] = {}
        for name in reversed(self._files.names("snapshots")):
            cluster = cluster_of(name)
            if cluster is not None:
                found.setdefault(cluster, []).append(name)
        return found

    def written(self, snapshot_id: str) -> datetime | None:
        """Return when the report on a snapshot was written, None for one that has none or is no snapshot's name."""
        return reports.written_at(self._files, snapshot_id) if cluster_of(snapshot_id) else None

    def digest(self, snapshot_id: str, written: datetime) -> dict[str, Any] | None:
        """Return what was stored beside a report to spare reading it, None where nothing was, or before the report was written.

        Args:
            snapshot_id: of a snapshot that has a report.
            written: when that was written.
        """
        path = f"snapshots/{snapshot_id}/findings.{DIGEST}"
        at = self._files.modified(path)
        if at is None or at < written:
            return None
        try:
            found = json.loads(self._files.read(path) or b"null")
        except (ValueError, RecursionError):  # the report is still there
            return None
        return found if isinstance(found, dict) else None

    def report(self, snapshot_id: str) -> dict[str, Any] | None:
        """Return a report with all that pages read, None where there is none.

        Raises:
            SnapshotError: it is no report, or one of a version that said less.
        """
        document = self._store.shown_report(snapshot_id) if cluster_of(snapshot_id) else None
        if document is None:
            return None
        if not reports.can_be_shown(document, snapshot_id):
            place = self._files.place(reports.report_path(self._files, snapshot_id))
            problem = "is not a report of this snapshot that this version can show"
            msg = f"{place}: {problem}; remove it, and `kafka-audit diff` creates one"
            raise SnapshotError(msg)
        return {**_ADDED_LATER, **document}

    def of_run(self, prefix: str) -> list[str]:
        """Return the snapshots that a run judged, of several tries the last one; empty where it asked nothing yet.

        Args:
            prefix: what the names of all tries of the run begin with.
        """
        asked: list[tuple[datetime, list[str]]] = []
        for name in self._files.names("runs"):
            if name.startswith(prefix):
                path = run_path(name, "request.json")
                text, at = self._files.read(path), self._files.modified(path)
                if text is not None and at is not None:
                    with contextlib.suppress(ValueError, KeyError, TypeError):  # cut short: that try asked nothing
                        asked.append((at, [pair.snapshot_id for pair in Request.from_json(text.decode()).pairs]))
        return max(asked)[1] if asked else []
