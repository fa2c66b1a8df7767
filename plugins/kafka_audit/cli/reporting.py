"""The command that renders an old report again, and the files that an audit leaves beside its report."""

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from kafka_audit.cli import console
from kafka_audit.model.errors import UsageError
from kafka_audit.report import formats
from kafka_audit.report.plain_text import terminal
from kafka_audit.store import Store


def report_command(arguments: argparse.Namespace) -> int:
    """Render the report on a stored snapshot again; nothing is asked, nothing is judged."""
    store = Store(arguments.out)
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


def write_forms(store: Store, document: Mapping[str, Any], forms: Sequence[str], *, newest: bool) -> list[str]:
    """Write a report in these forms beside it, and return where they are."""
    return [store.write_rendering(document["snapshot_id"], form, formats.FILES[form](document), newest=newest) for form in forms]


def write_report(document: Mapping[str, Any], form: str) -> None:
    """Put a report on stdout, as `text` or as `json`."""
    if form == "json":
        console.write_result(json.dumps(document, indent=2))
        return
    console.write_result(terminal.terminal_report(document, width=console.width(), color=console.has_color()))
