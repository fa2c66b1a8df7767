"""The commands that render an old report again, and that write a bundle."""

import argparse
from pathlib import Path

from msgspec import structs

from kafka_audit.cli import clusters
from kafka_audit.cli.bundling import bundle_reading
from kafka_audit.cli.printing import console, rendering
from kafka_audit.model.errors import UsageError
from kafka_audit.model.report import Report
from kafka_audit.model.text import clean, did_you_mean
from kafka_audit.report import formats
from kafka_audit.report.afterwards import as_it_ended
from kafka_audit.report.digest import read_digests
from kafka_audit.settings.redacted import redacted_cluster
from kafka_audit.store import BUNDLE, Store, bundles
from kafka_audit.store.bundles import Bundle
from kafka_audit.store.files import whole_file
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


def stored_at(path: Path) -> tuple[Path, str] | None:
    """Return the store and the snapshot that a path in a store names: a snapshot's folder, or a file in it; None for others."""
    for folder in (path, path.parent):
        if folder.parent.name == "snapshots" and cluster_of(folder.name) is not None and folder.is_dir():
            return folder.parent.parent, folder.name
    return None


def report_command(arguments: argparse.Namespace) -> int:
    """Render the report on a stored snapshot, or in a bundle, again; nothing is asked, nothing is judged."""
    inside = stored_at(Path(arguments.snapshot))
    if inside is None and bundle_reading.is_bundle(arguments.snapshot):
        return _report_of_bundle(arguments)
    root, subject = inside or (arguments.out or arguments.store, arguments.snapshot)
    store = Store(root)
    snapshot_id = reported_snapshot(store, subject, console.Progress(quiet=False)).snapshot_id
    document = store.shown_report(snapshot_id)
    if document is None:
        msg = f"snapshot {snapshot_id} has no report; `kafka-audit diff EARLIER {snapshot_id}` creates it"
        raise UsageError(msg)
    shown, notice = _what_came_after(store, document)
    places = rendering.write_forms(store, document, arguments.format.files, newest=False, old=(shown, notice))
    if arguments.format.stdout or not places:
        rendering.write_report(
            document if arguments.format.page == "json" else shown, arguments.format.page, full=arguments.all, notice=notice
        )
    else:
        console.write_result("\n".join(places))
    return 0


def _what_came_after(store: Store, document: Report) -> tuple[Report, str]:
    """Return a report as people read it, and what an old one says above everything else; "" for the newest one."""
    history = History(store.root)
    later = [one for one in history.snapshots().get(document.cluster, ()) if one > document.snapshot_id and not is_of_future(one)]
    newest = next(read_digests(history, sorted(later, reverse=True)), None)
    if newest is None:
        return document, ""
    return as_it_ended(document, read_digests(history, sorted(later)), newest)


def _report_of_bundle(arguments: argparse.Namespace) -> int:
    path, endings = Path(arguments.snapshot), arguments.format.files

    def render(bundle: Bundle) -> tuple[str, dict[str, str], str]:
        document = bundle.report
        to_stdout = arguments.format.stdout or not endings
        read = document if arguments.format.page == "json" else structs.replace(document, origin=BUNDLE)
        files = {form: formats.FILES[form](document) for form in endings}
        return document.snapshot_id, files, rendering.page(read, arguments.format.page, full=arguments.all) if to_stdout else ""

    snapshot_id, files, page = bundle_reading.rendered(path, render)
    folder = Path(arguments.out or path.parent)
    places = [folder / f"{snapshot_id}.{form}" for form in files]
    for place, content in zip(places, files.values(), strict=True):
        with whole_file(place, replace=True) as stream:
            stream.write(content.encode())
    console.write_result(page or "\n".join(map(str, places)))
    return 0
