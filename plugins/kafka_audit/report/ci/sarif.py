"""SARIF 2.1.0, as code scanners and editors read it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from kafka_audit import __version__
from kafka_audit.checks import Check
from kafka_audit.incidents.remedies import what_to_do
from kafka_audit.model.commands import named_placeholders
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.linted import Linted, LintedFinding, Remark
from kafka_audit.model.text import clean
from kafka_audit.report.lint_document import shown_findings

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
KINDS = {Status.FAIL: "fail", Status.PASS: "pass", Status.UNKNOWN: "open", Status.NOT_APPLICABLE: "notApplicable"}
# A backslash before a bracket would else take the escape's own for a backslash that is meant.
_BRACKET = re.compile(r"(?<!\\)(\\*+)([\[\]])")


def build_sarif(files: Sequence[Linted], checks: Mapping[str, Check], *, show_all: bool = False) -> dict[str, Any]:
    """Return the log of one run; rules are the reported checks, with the text of their pages."""
    linted = [(file, linted_finding) for file in files for linted_finding in shown_findings(file, show_all=show_all)]
    codes = sorted({linted_finding.finding.code for _, linted_finding in linted})
    run: dict[str, Any] = {
        "tool": {"driver": driver([checks[code] for code in codes])},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": location} for location in _artifacts(files)],
        "results": [_result(file, linted_finding, codes.index(linted_finding.finding.code)) for file, linted_finding in linted],
    }
    if remarks := [_notification(file, remark) for file in files for remark in file.remarks]:
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": remarks}]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def driver(rules: Iterable[Check]) -> Mapping[str, Any]:
    """Return the tool of a log, and the checks that it reports."""
    return {
        "name": "kafka-audit",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(check) for check in rules],
    }


def sarif_message(text: str) -> Mapping[str, str]:
    """Return a message or another string that viewers show: `[text](address)` in it is no link (SARIF 2.1.0, 3.11.6)."""
    return {"text": _BRACKET.sub(r"\1\1\\\2", text)}


def level(severity: Severity) -> str:
    """Return SARIF's word: error for what fails now or at the next restart, warning for what is weak, note for the rest."""
    return "error" if severity >= Severity.HIGH else "warning" if severity is Severity.MEDIUM else "note"


def _artifacts(files: Iterable[Linted]) -> list[Mapping[str, str]]:
    return [{"uri": uri} for uri in dict.fromkeys(_uri(file.path) for file in files)]


def _rule(check: Check) -> Mapping[str, Any]:
    return {
        "id": check.code,
        "name": "".join(part.title() for part in check.name.split("_")),
        "shortDescription": sarif_message(check.summary),
        "fullDescription": sarif_message(check.summary),
        "help": sarif_message(named_placeholders(what_to_do(check)) or check.summary),
        "defaultConfiguration": {"level": level(check.severity)},
        "properties": {"tags": ["kafka", check.family], "severity": check.severity.name},
    }


def _notification(file: Linted, remark: Remark) -> Mapping[str, Any]:
    where = {"artifactLocation": {"uri": _uri(file.path)}, "region": {"startLine": remark.line}}
    return {"level": "note", "message": sarif_message(clean(remark.text, 2000)), "locations": [{"physicalLocation": where}]}


def _result(file: Linted, linted: LintedFinding, rule: int) -> Mapping[str, Any]:
    finding = linted.finding
    failed = finding.status is Status.FAIL
    text = finding.message
    if finding.code == "KA310" and failed and file.kafka_says and clean(file.kafka_says) != file.kafka_says:
        text += clean(f" Kafka says: {file.kafka_says}", 2000)  # the message holds it as far as a message goes
    found: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "kind": KINDS[finding.status],
        "level": level(finding.severity) if failed else "none",
        "message": sarif_message(f"{text}\n{finding.remediation}".strip()),
        "locations": [_location(file, linted)],
        "partialFingerprints": {"kafkaAuditFinding/v1": finding.fingerprint},
        "properties": {"severity": finding.severity.name, "kafkaVersion": file.kafka_version},
    }
    if file.neighbour_of:
        found["properties"]["neighbourOf"] = clean(file.neighbour_of)
    if finding.muted:
        kind = "inSource" if linted.muted_here else "external"
        because = {"justification": clean(linted.muted_because)} if linted.muted_because else {}
        found["suppressions"] = [{"kind": kind, "status": "accepted", **because}]
    return found


def _location(file: Linted, linted: LintedFinding) -> Mapping[str, Any]:
    line = linted.place.line if linted.place else 1
    return {
        "physicalLocation": {"artifactLocation": {"uri": _uri(file.path)}, "region": {"startLine": line}},
        "logicalLocations": [{"fullyQualifiedName": clean(linted.finding.resource.name), "kind": "resource"}],
    }


def _uri(path: str) -> str:
    pure = PurePath(path)
    # A path that is no UTF-8 keeps its bytes.
    return f"{'file://' if pure.is_absolute() else ''}{quote(pure.as_posix().encode(errors='surrogateescape'))}"
