"""A report on stdout, and in further forms beside the stored one."""

import shlex
from collections.abc import Sequence

from msgspec import structs

from kafka_audit.cli.printing import console
from kafka_audit.model.report import Report, report_text
from kafka_audit.model.text import our_line
from kafka_audit.report import formats
from kafka_audit.report.html.cluster import standalone
from kafka_audit.report.plain_text import terminal
from kafka_audit.store import Store


def write_forms(store: Store, document: Report, forms: Sequence[str], *, newest: bool, notice: str = "") -> list[str]:
    """Write a report in these forms beside it, with a notice above it where people read it, and return where they are."""
    written = {form: standalone(document, notice) if form == "html" else formats.FILES[form](document) for form in forms}
    return [store.write_rendering(document.snapshot_id, form, text, newest=newest) for form, text in written.items()]


def write_report(document: Report, form: str, *, full: bool = False, notice: str = "") -> None:
    """Put a report on stdout, as `text`, below a notice, or as `json`."""
    above = f"{our_line(notice, 1000)}\n\n" if notice and form == "text" else ""
    console.write_result(f"{above}{page(document, form, full=full)}")


def write_not_audited(document: Report) -> None:
    """Say on stdout that nothing answered, where nothing ever has."""
    console.write_result(terminal.not_audited(document, width=console.width()))


def as_typed(document: Report, words: Sequence[str]) -> Report:
    """Return a report that proves a repair by the command that was typed: `run NAME` needs a cluster file, which names it."""
    typed = shlex.join(["kafka-audit", *words])
    incidents = []
    for incident in document.incidents:
        steps = (structs.replace(s, commands=(typed,), lines=()) if s.kind == "prove" else s for s in incident.remediation)
        incidents.append(structs.replace(incident, remediation=tuple(steps)))
    return structs.replace(document, incidents=tuple(incidents))


def page(document: Report, form: str, *, full: bool = False) -> str:
    """Return a report as `text`, which is a summary unless it is asked for in `full`, or as `json`."""
    if form == "json":
        return report_text(document)[:-1]
    return terminal.terminal_report(document, width=console.width(), color=console.has_color(), full=full)
