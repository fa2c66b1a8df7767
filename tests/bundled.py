"""Bundles for tests: a judged snapshot, its bundle, and the same file after changes of another party."""

import hashlib
import io
import json
import zipfile

import pyarrow.parquet as pq

import small_cluster
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES
from kafka_audit.incidents.causes import incidents
from kafka_audit.report import formats
from kafka_audit.report.document import build_report
from kafka_audit.store import Store, bundles
from reported import report_of

ID = "20260914T180000Z-prod-0001"
SPEC = {
    "brokers": {0: "a:9092"},
    "views": {0: "empty"},
    "topics": {"orders": {"partitions": {0: {"replicas": [0]}}}},
    "logs": [{"broker": 0, "about": 2, "signature": "connection_not_established"}],
}


def judged_store(root, snapshot_id=ID):
    """Return a store that holds a snapshot with its report."""
    store = Store(root)
    snapshot = small_cluster.snapshot(SPEC, snapshot_id)
    store.write(snapshot)
    judge(store, snapshot)
    return store


def judge(store, snapshot):
    view = small_cluster.view(snapshot)
    findings = [small_cluster.finding("KA105", "broker/0", severity="CRITICAL")]
    document = build_report(view, None, findings, incidents(view, findings, ()), (), None)
    store.write_report(snapshot.snapshot_id, report_of(document))
    store.write_differences(snapshot.snapshot_id, Differences.from_rows(DIFFERENCES, ()).to_plain())


def write(store, target, cluster=None):
    bundles.write_bundle(store, ID, target, page=formats.FILES["html"], cluster=cluster)
    return target


def contents(path):
    """Return the decompressed entries by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def cells(content):
    """Return a table's file as text: its pages are compressed."""
    return str(pq.read_table(io.BytesIO(content)).to_pylist())


def rewritten(path, target, changes, *, agreeing=True):
    """Write the bundle with other entries; None removes one.

    Args:
        path: a bundle.
        target: where the other one goes.
        changes: entries by name.
        agreeing: the lists of entries and tables agree with them, as a forger has it.
    """
    entries = {name: content for name, content in (contents(path) | changes).items() if content is not None}
    if agreeing and "bundle.json" not in changes:
        if "snapshot/manifest.json" not in changes:
            manifest = json.loads(entries["snapshot/manifest.json"])
            for name in manifest["tables"]:
                if (content := entries.get(f"snapshot/{name}.parquet")) is not None:
                    manifest["tables"][name] |= _entry(content)
            entries["snapshot/manifest.json"] = json.dumps(manifest, indent=2).encode()
        about = json.loads(entries["bundle.json"])
        about["entries"] = {name: _entry(content) for name, content in entries.items() if name != "bundle.json"}
        entries["bundle.json"] = json.dumps(about).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return target


def _entry(content):
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
