"""Earlier reports, for pages: their list, their content, and the results of a run. Read-only."""

import contextlib
import json
import os
from datetime import datetime
from typing import Any

from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.report import Report
from kafka_audit.model.run import Request, run_path
from kafka_audit.store import Store, reports
from kafka_audit.store.files import Files
from kafka_audit.store.manifest import cluster_of

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

    def report(self, snapshot_id: str) -> Report | None:
        """Return a report that pages can show, None where there is none.

        Raises:
            SnapshotError: it is no report, one of a version that said less, or it has a time in the future.
        """
        report = self._store.shown_report(snapshot_id) if cluster_of(snapshot_id) else None
        if report is not None and not reports.can_be_shown(report, snapshot_id):
            place = self._files.place(reports.report_path(self._files, snapshot_id))
            problem = "is not a report of this snapshot that this version can show"
            msg = f"{place}: {problem}; remove it, and `kafka-audit diff` creates one"
            raise SnapshotError(msg)
        return report

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
