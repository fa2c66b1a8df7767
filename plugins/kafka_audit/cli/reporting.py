"""The command that renders an old report again."""

import argparse
from pathlib import Path

from msgspec import structs

from kafka_audit.cli.bundling import bundle_reading, bundle_writing
from kafka_audit.cli.printing import console, rendering
from kafka_audit.model.errors import UsageError
from kafka_audit.report import formats
from kafka_audit.store import BUNDLE, Store
from kafka_audit.store.bundles import Bundle
from kafka_audit.store.files import whole_file


def report_command(arguments: argparse.Namespace) -> int:
    """Render the report on a stored snapshot, or in a bundle, again; nothing is asked, nothing is judged."""
    if bundle_reading.is_bundle(arguments.snapshot):
        return _report_of_bundle(arguments)
    store = Store(arguments.out or arguments.store)
    snapshot_id = bundle_writing.reported_snapshot(store, arguments.snapshot, console.Progress(quiet=False)).snapshot_id
    document = store.shown_report(snapshot_id)
    if document is None:
        msg = f"snapshot {snapshot_id} has no report; `kafka-audit diff EARLIER {snapshot_id}` creates it"
        raise UsageError(msg)
    places = rendering.write_forms(store, document, arguments.format.files, newest=False)
    if arguments.format.stdout or not places:
        rendering.write_report(document, arguments.format.page)
    else:
        console.write_result("\n".join(places))
    return 0


def _report_of_bundle(arguments: argparse.Namespace) -> int:
    path, endings = Path(arguments.snapshot), arguments.format.files

    def render(bundle: Bundle) -> tuple[str, dict[str, str], str]:
        document = bundle.report
        to_stdout = arguments.format.stdout or not endings
        read = document if arguments.format.page == "json" else structs.replace(document, origin=BUNDLE)
        files = {form: formats.FILES[form](document) for form in endings}
        return document.snapshot_id, files, rendering.page(read, arguments.format.page) if to_stdout else ""

    snapshot_id, files, page = bundle_reading.rendered(path, render)
    folder = Path(arguments.out or path.parent)
    places = [folder / f"{snapshot_id}.{form}" for form in files]
    for place, content in zip(places, files.values(), strict=True):
        with whole_file(place, replace=True) as stream:
            stream.write(content.encode())
    console.write_result(page or "\n".join(map(str, places)))
    return 0
