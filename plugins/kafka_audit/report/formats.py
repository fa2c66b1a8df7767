"""The forms of a report that are files: one function from `findings.json` to the content of each.

Each form imports what it needs when a report is first written in it: an audit without pages needs no template engine.
"""

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

from kafka_audit.model.report import Report, report_text
from kafka_audit.model.text import our_line

Render = Callable[[Report], str]


def _form(name: str) -> Render:
    """Return the function `kafka_audit.report.<name>`, which is imported at its first call."""
    module, _, function = name.rpartition(".")

    def render(document: Report) -> str:
        content: str = getattr(importlib.import_module(f"kafka_audit.report.{module}"), function)(document)
        return content

    return render


FILES: Mapping[str, Render] = MappingProxyType(
    {
        "json": report_text,
        "html": _form("html.cluster.standalone"),
        "md": _form("plain_text.markdown.markdown_report"),
        "sarif": _form("ci.sarif_audit.sarif_report"),
        "openmetrics": _form("openmetrics.openmetrics_report"),
    }
)
"""By ending, so that a file is `findings.<ending>`."""


def with_notice(form: str, document: Report, notice: str, shown: Report) -> str:
    """Return a report as a file of that ending; where people read it, HTML and Markdown, as `shown` below a notice."""
    if form == "md" and notice:
        return f"> {our_line(notice, 1000)}\n\n{FILES[form](shown)}"
    if form != "html" or not notice:
        return FILES[form](document)
    from kafka_audit.report.html.cluster import standalone  # noqa: PLC0415 -- as `_form`

    return standalone(shown, notice)


MEDIA: Mapping[str, str] = MappingProxyType(
    {
        "json": "application/json",
        "html": "text/html; charset=utf-8",
        "md": "text/markdown; charset=utf-8",
        "sarif": "application/sarif+json",
        "openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8",
    }
)
