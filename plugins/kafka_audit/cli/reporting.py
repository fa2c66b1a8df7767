"""The command that renders an old report again, and the files that an audit leaves beside its report."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_audit.cli import bundle_reading, console
from kafka_audit.model.errors import UsageError
from kafka_audit.report import formats
from kafka_audit.report.plain_text import terminal
from kafka_audit.store import Store
from kafka_audit.store.files import whole_file


def report_command(arguments: argparse.Namespace) -> int:
    """Render the report on a stored snapshot, or in a bundle, again; nothing is asked, nothing is judged."""
    if bundle_reading.is_bundle(arguments.snapshot):
        return _report_of_bundle(arguments)
    store = Store(arguments.out or arguments.store)
    snapshot_id = store.manifest(arguments.snapshot).snapshot_id
    document = store.read_report(snapshot_id)
    if document is None:
        msg = f"snapshot {snapshot_id} has no report; `kafka-audit diff EARLIER {snapshot_id}` creates it"
        raise UsageError(msg)
    places = write_forms(store, document, arguments.format.files, newest=False)
    if arguments.format.stdout or not places:
        write_report(document, arguments.format.page)
    else:
        console.write_result("\n".join(places))
    return 0


def _report_of_bundle(arguments: argparse.Namespace) -> int:
    bundle, endings = Path(arguments.snapshot), arguments.format.files

    def render(document: Mapping[str, Any]) -> tuple[str, dict[str, str], str]:
        to_stdout = arguments.format.stdout or not endings
        files = {form: formats.FILES[form](document) for form in endings}
        return document["snapshot_id"], files, _page(document, arguments.format.page) if to_stdout else ""

    snapshot_id, files, page = bundle_reading.rendered(bundle, render)
    folder = Path(arguments.out or bundle.parent)
    places = [folder / f"{snapshot_id}.{form}" for form in files]
    for place, content in zip(places, files.values(), strict=True):
        with whole_file(place, replace=True) as stream:
            stream.write(content.encode())
    console.write_result(page or "\n".join(map(str, places)))
    return 0


def write_forms(store: Store, document: Mapping[str, Any], forms: Sequence[str], *, newest: bool) -> list[str]:
    """Write a report in these forms beside it, and return where they are."""
    return [store.write_rendering(document["snapshot_id"], form, formats.FILES[form](document), newest=newest) for form in forms]


def write_report(document: Mapping[str, Any], form: str) -> None:
    """Put a report on stdout, as `text` or as `json`."""
    console.write_result(_page(document, form))


def _page(document: Mapping[str, Any], form: str) -> str:
    if form == "json":
        return json.dumps(document, indent=2)
    return terminal.terminal_report(document, width=console.width(), color=console.has_color())
