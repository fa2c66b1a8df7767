"""Documents for the reports, made from the cases of `tests/incidents/cases`."""

from collections.abc import Callable
from typing import Any

import pytest

import small_cluster
from incidents.case_files import case_files, judged_case
from kafka_audit.incidents.causes import incidents
from kafka_audit.model.finding import Change, Finding
from kafka_audit.model.tables import Snapshot
from kafka_audit.report.document import build_document

Audit = Callable[..., tuple[dict[str, Any], Snapshot]]


@pytest.fixture
def audited() -> Audit:
    """Return a function that judges a case of `tests/incidents/cases`, e.g. `cut_off`, `all_brokers`."""

    def run(family: str, name: str, **arguments: Any) -> tuple[dict[str, Any], Snapshot]:
        snapshot, findings, changes = judged_case(case_files()[family, name])
        return document(findings, snapshot, changes, **arguments)

    return run


def document(
    findings: list[Finding],
    spec: dict[str, Any] | Snapshot,
    changes: tuple[Change, ...] | list[Change] = (),
    *,
    previous: dict[str, Any] | None = None,
    **options: Any,
) -> tuple[dict[str, Any], Snapshot]:
    view = small_cluster.view(spec)
    found = incidents(view, findings, changes)
    previous_id = None if previous is None else previous["snapshot_id"]
    return build_document(view, previous_id, findings, found, changes, previous, **options), view.snapshot


@pytest.fixture
def told() -> Audit:
    """Return a function that puts findings and a cluster into a document."""
    return document
