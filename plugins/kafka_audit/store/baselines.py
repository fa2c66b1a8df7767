"""Snapshots that a change is compared with afterwards: `ROOT/baselines/<snapshot>.json`. Their snapshots are never pruned."""

import json
import os
from collections.abc import Mapping
from typing import Any

from kafka_audit.model.errors import SnapshotError
from kafka_audit.store.files import Files
from kafka_audit.store.manifest import cluster_of

FOLDER = "baselines"
DECISIONS = "decisions"
"""Reports of the gate, approved or not."""
COMPARISONS = "comparisons"
"""Reports on what a change changed."""


class Baselines:
    """The baselines of a store, each the report of the gate that let its change begin."""

    def __init__(self, root: str | os.PathLike[str], folder: str = FOLDER) -> None:
        """Take the store's root, and which reports; nothing is created before the first write."""
        self._files = Files(root)
        self._folder = folder

    def keep(self, report: Mapping[str, Any]) -> str:
        """Keep the snapshot that a report is on; returns the file's place."""
        path = f"{self._folder}/{report['snapshot_id']}.json"
        self._files.write(path, (json.dumps(report, indent=2) + "\n").encode())
        return self._files.place(path)

    def find(self, cluster: str, snapshot_id: str | None = None) -> dict[str, Any]:
        """Return a baseline, by default the newest one of a cluster.

        Raises:
            SnapshotError: there is none, or it cannot be read.
        """
        names = [name.removesuffix(".json") for name in self._files.names(self._folder) if name.endswith(".json")]
        own = [name for name in names if cluster_of(name) == cluster and snapshot_id in {None, name}]
        if not own:
            missing = "no baseline" if snapshot_id is None else f"no baseline {snapshot_id!r}"
            remedy = f"create one with kafka-audit before-migration {cluster}"
            msg = f"{self._files.place(self._folder)}: {missing} of cluster {cluster!r}; {remedy}"
            raise SnapshotError(msg)
        path = f"{self._folder}/{own[-1]}.json"
        try:
            report = json.loads(self._files.read(path) or b"")
            _ = report["snapshot_id"], report["plan"]["kind"]
        except (ValueError, KeyError, TypeError, RecursionError):
            msg = f"{self._files.place(path)}: is not a valid baseline (truncated or edited); select another one"
            raise SnapshotError(msg) from None
        row: dict[str, Any] = report
        return row
