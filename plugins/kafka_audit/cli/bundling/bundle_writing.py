"""The command that writes a bundle."""

import argparse
from pathlib import Path

from kafka_audit.cli import clusters
from kafka_audit.cli.printing import console
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import clean, did_you_mean
from kafka_audit.report import formats
from kafka_audit.settings.redacted import redacted_cluster
from kafka_audit.store import Store, bundles
from kafka_audit.store.history import History
from kafka_audit.store.manifest import Manifest, cluster_of, is_of_future


def bundle_command(arguments: argparse.Namespace) -> int:
    """Write the bundle of a snapshot, print where it is."""
    say = console.Progress(quiet=arguments.quiet)
    store, target = Store(arguments.store), Path(arguments.out)
    manifest = reported_snapshot(store, arguments.subject, say)
    described = clusters.clusters_if_any(arguments.config).get(manifest.cluster)
    if described is None:
        say(f"no cluster file describes {manifest.cluster}: the bundle has no cluster.json")
    cluster = None if described is None else redacted_cluster(described)
    bundles.write_bundle(store, manifest.snapshot_id, target, page=formats.FILES["html"], cluster=cluster)
    say(f"bundle of {manifest.snapshot_id}: {target.stat().st_size:,} bytes")
    console.write_result(str(target))
    return 0


def reported_snapshot(store: Store, subject: str, say: console.Progress) -> Manifest:
    """Return the snapshot with this id, or the newest of the cluster of this name that has a report; raises `UsageError`."""
    ids = History(store.root).snapshots()
    if subject not in ids:
        if cluster_of(subject) is None:
            near = did_you_mean(subject, ids) or f"; the store has {', '.join(sorted(ids)) or 'none'}"
            msg = f"{store.root}: there is no snapshot of a cluster {clean(subject)!r}{near}"
            raise UsageError(msg)
        return store.manifest(subject)
    for snapshot_id in ids[subject]:
        if is_of_future(snapshot_id):
            say(f"{snapshot_id} was taken in the future; searching an earlier one")
        elif store.read_report(snapshot_id) is not None:
            return store.manifest(snapshot_id)
        else:
            say(f"{snapshot_id} has no report; searching an earlier one")
    msg = f"{store.root}: no snapshot of {subject} has a report; `kafka-audit run {subject}` creates one"
    raise UsageError(msg)
