"""An audit's report as SARIF 2.1.0: what a code scanner shows of lint, of a running cluster."""

import json
from collections.abc import Mapping
from typing import Any

from kafka_audit.checks import Check, catalogue
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.report import Report, ReportedFinding
from kafka_audit.model.text import clean
from kafka_audit.report import remedies
from kafka_audit.report.ci import sarif

_LEFT_OUT = {Status.PASS, Status.NOT_APPLICABLE}


def sarif_report(document: Report) -> str:
    """Return the log of one audit as a file, with the rules of all checks."""
    return json.dumps(build_audit_sarif(document, catalogue()), indent=2) + "\n"


def build_audit_sarif(document: Report, checks: Mapping[str, Check]) -> dict[str, Any]:
    """Return the log of one audit; failures and what is not known are results, a resource of the cluster is their place."""
    reported = [finding for finding in document.findings if finding.status not in _LEFT_OUT]
    codes = sorted({finding.code for finding in reported if finding.code in checks})
    run = {
        "tool": {"driver": sarif.driver([checks[code] for code in codes])},
        "columnKind": "unicodeCodePoints",
        "automationDetails": {"id": f"kafka-audit/{document.cluster}/{document.snapshot_id}"},
        "results": [_result(finding, document, codes) for finding in reported],
        "properties": {
            "cluster": document.cluster,
            "coverage": {"asked": document.coverage.asked, "answered": document.coverage.answered},
        },
    }
    return {"$schema": sarif.SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: ReportedFinding, document: Report, codes: list[str]) -> Mapping[str, Any]:
    failed = finding.status == Status.FAIL
    severity, note = Severity[finding.severity], f"{remedies.origin_note(document)}\n".lstrip()
    rule = {"ruleIndex": codes.index(finding.code)} if finding.code in codes else {}
    row: dict[str, Any] = {
        "ruleId": finding.code,
        **rule,
        "kind": sarif.KINDS[finding.status],
        "level": sarif.level(severity) if failed else "none",
        "message": sarif.sarif_message(f"{finding.message}\n{note}{finding.remediation}".strip()),
        "locations": [
            {
                "logicalLocations": [
                    {
                        "name": clean(finding.resource.name),
                        "fullyQualifiedName": clean(f"{document.cluster}/{finding.resource.name}", 400),
                        "kind": "resource",
                    }
                ]
            }
        ],
        "partialFingerprints": {"kafkaAuditFinding/v1": finding.fingerprint},
        "properties": {"severity": finding.severity, "confidence": finding.confidence, "lifecycle": finding.lifecycle},
    }
    if finding.muted:
        row["suppressions"] = [{"kind": "external", "status": "accepted"}]
    return row
