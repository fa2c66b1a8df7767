"""The forms of a report that are files: one function from `findings.json` to the content of each."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kafka_audit.checks import catalogue
from kafka_audit.report import openmetrics
from kafka_audit.report.ci import sarif_audit
from kafka_audit.report.html import cluster
from kafka_audit.report.plain_text import markdown

Render = Callable[[Mapping[str, Any]], str]


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2) + "\n"


def _sarif(document: Mapping[str, Any]) -> str:
    return json.dumps(sarif_audit.build_audit_sarif(document, catalogue()), indent=2) + "\n"


FILES: Mapping[str, Render] = MappingProxyType(
    {
        "json": _json,
        "html": cluster.standalone,
        "md": markdown.markdown_report,
        "sarif": _sarif,
        "openmetrics": openmetrics.openmetrics_report,
    }
)
"""By ending, so that a file is `findings.<ending>`."""

MEDIA: Mapping[str, str] = MappingProxyType(
    {
        "json": "application/json",
        "html": "text/html; charset=utf-8",
        "md": "text/markdown; charset=utf-8",
        "sarif": "application/sarif+json",
        "openmetrics": openmetrics.CONTENT_TYPE_LATEST,
    }
)
