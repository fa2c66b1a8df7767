"""Stores with worlds of `checks.world` in them, for tests that go the whole way through files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from checks.cases import base
from checks.world import World, snapshots
from kafka_audit.model.run import Request, SnapshotPair
from kafka_audit.store import Store


def snapshot_id(name: str) -> str:
    """Return the id of a world's snapshot."""
    return f"20260914T180000Z-{name}-0001"


def put(root: Path, run_id: str, worlds: Mapping[str, World]) -> Store:
    """Write the snapshots of some worlds, and the request to judge each with its previous one."""
    store, pairs = Store(root), []
    for name, case in worlds.items():
        now, previous = snapshots(base(), name, case)
        before = None if previous is None else snapshot_id(name).replace("T18", "T17")
        if previous is not None:
            store.write(replace(previous, snapshot_id=before, cluster=name, cluster_id=now.cluster_id))
        store.write(replace(now, snapshot_id=snapshot_id(name), cluster=name))
        pairs.append(SnapshotPair(snapshot_id=snapshot_id(name), previous_snapshot_id=before))
    store.write_request(Request(run_id=run_id, pairs=tuple(pairs), show_all=True))
    return store
