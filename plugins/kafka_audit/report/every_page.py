"""Whether a report of another party can be published: it is what the schema says, and every page and file of it can be made."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError
from msgspec import to_builtins

from kafka_audit.model.report import Report
from kafka_audit.model.text import clean
from kafka_audit.report import digest, formats
from kafka_audit.report.html import cluster as cluster_page
from kafka_audit.report.html import pages, timeline
from kafka_audit.report.html.filters import Wanted
from kafka_audit.report.plain_text import terminal
from kafka_audit.report.schema import findings_schema
from kafka_audit.store import reports

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

UNSHOWN = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, TemplateError)
"""What a report raises where it is shown and is none."""

_LONGEST = 300
_WIDTH = 100


def require_publishable(document: Report, written: Mapping[str, Any], now: datetime | None = None) -> None:
    """Raise ValueError, which says why, where a report cannot stand in a store that other reports stand in.

    `written` is the report as its file has it.
    """
    now = now or datetime.now(UTC)
    problem = next(_schema().iter_errors(written), None)
    if problem is not None:
        message = clean(f"{problem.json_path}: {problem.message}", _LONGEST)
        raise ValueError(message)
    if not reports.are_past(document.started_at, document.finished_at, now=now):
        message = "started_at and finished_at are not two times in the past"
        raise ValueError(message)
    if (document.started_at or "") > (document.finished_at or "9"):  # both in UTC, as the schema demands
        message = "it ended before it began"
        raise ValueError(message)
    try:
        _render(document, now)
    except UNSHOWN as error:
        message = clean(f"{type(error).__name__}: {error}", _LONGEST)
        raise ValueError(message) from None


def _render(document: Report, now: datetime) -> None:
    """Make every page and file that shows the report, of this cluster alone or beside others."""
    for render in formats.FILES.values():
        render(document)
    json.dumps(to_builtins(document), allow_nan=False)
    terminal.terminal_report(document, width=_WIDTH, color=True)
    stored = json.loads(digest.digest_text(document))
    row = digest.restored(stored, document.snapshot_id, 1.0)
    if row is None:
        message = "its digest cannot be read"
        raise ValueError(message)
    name = row.cluster
    pages.overview_page([pages.Glance(cluster=name, link=name, digests=[row])], now=now, up="./")
    compared = timeline.compare_reports(document, document, [row])
    pages.history_page(name, [row], up="../", here="../", compared=compared, ends=(row, row))
    around = cluster_page.Around(
        up="../",
        here="../",
        newest=True,
        age=pages.age(document.finished_at, now),
        notice="",
        run="",
        run_link="",
        min_coverage=1.0,
    )
    for fold in (False, True):
        cluster_page.cluster_page(document, around, wanted=Wanted(), mode="worst", fold=fold)


@cache
def _schema() -> "Draft202012Validator":
    # Only bundles need it, and no import of the command takes longer: it builds grammars where rfc3987-syntax is installed.
    from jsonschema import Draft202012Validator  # noqa: PLC0415 -- see above

    return Draft202012Validator(findings_schema())
