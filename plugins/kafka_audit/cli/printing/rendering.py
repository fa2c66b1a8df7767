"""A report on stdout, and in further forms beside the stored one."""

import contextlib
import shlex
from collections.abc import Sequence

from msgspec import structs

from kafka_audit.cli.printing import console
from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.compare.addresses import HostPort, address_text, canonical_address
from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.report import Report, report_text
from kafka_audit.model.text import our_line
from kafka_audit.report import formats
from kafka_audit.report.plain_text import terminal
from kafka_audit.store import Store
from kafka_audit.store.history import History


def write_forms(
    store: Store, document: Report, forms: Sequence[str], *, newest: bool, old: tuple[Report, str] | None = None
) -> list[str]:
    """Write a report in these forms beside it, and return where they are; for people an `old` one has its notice."""
    shown, notice = old or (document, "")
    written = {form: formats.with_notice(form, document, notice, shown) for form in forms}
    return [store.write_rendering(document.snapshot_id, form, text, newest=newest) for form, text in written.items()]


def write_report(document: Report, form: str, *, full: bool = False, notice: str = "") -> None:
    """Put a report on stdout, as `text`, below a notice, or as `json`."""
    above = f"{our_line(notice, 1000)}\n\n" if notice and form == "text" else ""
    console.write_result(f"{above}{page(document, form, full=full)}")


def write_not_audited(document: Report, history: History) -> None:
    """Say on stdout that nothing answered, where nothing ever has, and whose address it is if an audit of a cluster has it."""
    known = _known_address(document, history)
    console.write_result(f"{terminal.not_audited(document, width=console.width())}{f'{known}{chr(10)}' if known else ''}")


_NEWEST, _CLUSTERS = 3, 100


def _known_address(document: Report, history: History) -> str:
    """Return which broker of which cluster has an address that did not answer, by the newest audits, and where to ask instead."""
    asked = {place for read in document.coverage.unknown for place in _places(read.target or "")}
    for cluster, snapshot_ids in list(history.snapshots().items())[:_CLUSTERS]:
        for snapshot_id in snapshot_ids[:_NEWEST]:
            report = None
            with contextlib.suppress(SnapshotError):
                report = history.report(snapshot_id)
            places = {broker: _places(text) for broker, text in (report.matrix.endpoints if report else {}).items()}
            for broker, own in places.items():
                if not asked.isdisjoint(own):
                    others = [place for other, found in places.items() if other != broker for place in found]
                    ask = f" Ask another: --bootstrap {address_text(*others[0])}" if others else ""
                    return our_line(f"It is broker {broker} of {cluster}, by the audit {snapshot_id}.{ask}", 500)
    return ""


def another_port(document: Report, history: History) -> str:
    """Return that the audit before read these hosts at other ports, where nothing answered now; "" if it read these as well."""
    report = None
    with contextlib.suppress(SnapshotError):
        report = history.report(document.previous_snapshot_id) if document.previous_snapshot_id else None
    known = {place for text in (report.matrix.endpoints if report else {}).values() for place in _places(text)}
    asked = {place for read in document.coverage.unknown for place in _places(read.target)}
    same = sorted(place for place in known if place[0] in {host for host, _ in asked})
    if not same or not known.isdisjoint(asked):
        return ""
    texts = [address_text(*place) for place in same[:3]]
    where = f"{' or '.join(texts)}, which the audit {document.previous_snapshot_id} has"
    return f"A typo? {address_text(*min(asked))} was in no audit. Ask {where}."


def _places(text: str) -> list[HostPort]:
    return [canonical_address(*place) for place in addresses_of(text)]


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
