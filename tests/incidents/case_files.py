"""The cases of `tests/incidents/cases`: findings and a small snapshot in, incidents out. One YAML file a family of causes."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

import small_cluster
from checks.test_cases import findings_of
from kafka_audit.checks.run import judge
from kafka_audit.model.finding import Change, Finding
from kafka_audit.model.tables import Snapshot

FOLDER = Path(__file__).parent / "cases"


@cache
def case_files() -> dict[tuple[str, str], dict[str, Any]]:
    """Return each case by its family and name. It belongs to all tests, so no test changes it."""
    return {
        (path.stem, name): case
        for path in sorted(FOLDER.glob("*.yaml"))
        for name, case in yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader).items()
    }


def judged_case(case: dict[str, Any], spec: dict[str, Any] | None = None) -> tuple[Snapshot, list[Finding], list[Change]]:
    """Return the cluster of a case, its findings, and what changed: findings that it names, else those of every check.

    `spec` is put into the description of the cluster.
    """
    snapshot = small_cluster.snapshot(case["cluster"] | (spec or {}))
    changes = [small_cluster.change(**change) for change in case.get("changes", [])]
    if "findings" not in case:
        snapshot = small_cluster.settled(snapshot)
        view = small_cluster.view(snapshot)
        return snapshot, [*findings_of(view, judge(view))], changes
    named = ((*line.split(" ", 1), extra or {}) for row in case["findings"] for line, extra in row.items())
    return snapshot, [small_cluster.finding(code, resource, **extra) for code, resource, extra in named], changes
