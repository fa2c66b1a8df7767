"""Documents for the reports, made from the cases of `tests/incidents/cases`."""

from collections.abc import Callable
from typing import Any

import pytest

import small_cluster
from incidents.case_files import Judged, judged, judged_case
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Change, Finding
from kafka_audit.model.report import report_json
from kafka_audit.model.tables import Snapshot
from kafka_audit.report.document import build_report
from reported import report_of

Audit = Callable[..., tuple[dict[str, Any], Snapshot]]


@pytest.fixture
def audited() -> Audit:
    """Return a function that judges a case of `tests/incidents/cases`, e.g. `cut_off`, `all_brokers`, or another view of it."""

    def run(family: str, name: str, view: ClusterView | None = None, **arguments: Any) -> tuple[dict[str, Any], Snapshot]:
        found = judged_case(family, name) if view is None else judged((family, name), view)
        return documented(found, **arguments)

    return run


def document(
    findings: list[Finding],
    spec: dict[str, Any] | Snapshot,
    changes: tuple[Change, ...] | list[Change] = (),
    *,
    previous: dict[str, Any] | None = None,
    **options: Any,
) -> tuple[dict[str, Any], Snapshot]:
    found = Judged(view=small_cluster.view(spec), findings=findings, changes=changes)
    return documented(found, previous=previous, **options)


def documented(found: Judged, *, previous: dict[str, Any] | None = None, **options: Any) -> tuple[dict[str, Any], Snapshot]:
    before = None if previous is None else report_of(previous)
    before_id = None if before is None else before.snapshot_id
    report = build_report(found.view, before_id, found.findings, found.incidents(), found.changes, before, **options)
    return report_json(report), found.view.snapshot


@pytest.fixture
def told() -> Audit:
    """Return a function that puts findings and a cluster into a document."""
    return document
