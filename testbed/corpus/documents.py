"""Facts of a snapshot in, the finished document out, as the product makes it."""

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

import msgspec

from kafka_audit.checks import run
from kafka_audit.cluster.changes import changes
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.causes import incidents
from kafka_audit.incidents.findings import findings_with_lifecycle
from kafka_audit.model.finding import Status
from kafka_audit.model.report import Report, report_json
from kafka_audit.model.tables import Snapshot
from kafka_audit.report.document import build_report
from kafka_audit.report.plain_text.terminal import terminal_report
from testbed.cluster_views import cluster_views

Document = Mapping[str, Any]
"""What the properties need of `findings.json`: `incidents`, `findings` with those that pass, and the `matrix`."""
_OF_INCIDENTS = (
    *("headline", "cause", "severity", "confidence", "confidence_why", "findings"),
    *("evidence_for", "evidence_against", "not_known", "candidates"),
)
_OF_FINDINGS = ("code", "status", "severity", "confidence", "resource", "fingerprint")
WIDE = 100_000
Pair = tuple[Snapshot, Snapshot | None]
"""A snapshot and the one that it is compared with."""


def documents(pairs: Mapping[str, Pair], *, passing: bool = True, evidence: Collection[str] = ()) -> dict[str, Document]:
    """Return the document on each pair, if wanted without what passes, which takes most of the time.

    Evidence is of findings of incidents, and of the checks that `evidence` names. One pass of the embedded engine serves all;
    keys are the ids of the snapshots.
    """
    return {name: _document(view, passing=passing, evidence=evidence) for name, view in cluster_views(pairs).items()}


def terminal_reports(pairs: Mapping[str, Pair]) -> dict[str, str]:
    """Return what `kafka-audit run` prints of each pair, on a terminal so wide that no line is broken."""
    return {name: terminal_report(report, width=WIDE, color=False) for name, report in whole_documents(pairs).items()}


def whole_documents(pairs: Mapping[str, Pair], *, passing: bool = False) -> dict[str, Report]:
    """Return the whole report of each pair, if wanted with what passes, which takes most of the time."""
    return {name: _whole(view, passing=passing) for name, view in cluster_views(pairs).items()}


def report_of(document: Document) -> Report:
    """Return the report that a `findings.json` holds."""
    return msgspec.convert(document, Report)


def printed(document: Document) -> str:
    """Return what `kafka-audit run` prints of a `findings.json`, on a terminal so wide that no line is broken."""
    return terminal_report(report_of(document), width=WIDE, color=False)


def _whole(view: ClusterView, *, passing: bool) -> Report:
    judgements, changed = run.judge(view), changes(view)
    judgements = tuple(judgement for judgement in judgements if passing or judgement.status is not Status.PASS)
    found = findings_with_lifecycle(view, judgements, mutes=(), previous_report=None, today=date(2026, 1, 1))
    previous = None if view.previous is None else view.previous.snapshot_id
    return build_report(view, previous, found, incidents(view, found, changed), changed, None, show_all=True)


def _document(view: ClusterView, *, passing: bool, evidence: Collection[str]) -> Document:
    whole = report_json(_whole(view, passing=passing))
    headed = {fingerprint for incident in whole["incidents"] for fingerprint in incident["findings"]}
    return {
        "matrix": whole["matrix"],
        "incidents": [{key: incident[key] for key in _OF_INCIDENTS} for incident in whole["incidents"]],
        "findings": [
            {key: finding[key] for key in _OF_FINDINGS}
            | {"evidence": finding["evidence"] if finding["fingerprint"] in headed or finding["code"] in evidence else {}}
            for finding in whole["findings"]
        ],
    }
