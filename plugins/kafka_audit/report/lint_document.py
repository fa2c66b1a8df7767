"""The JSON document of `lint`: the contract of design and outside tests."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import structs

from kafka_audit.model.finding import Status
from kafka_audit.model.linted import Linted, LintedFinding
from kafka_audit.model.report import ReportedFinding, report_json
from kafka_audit.report.document import reported_finding, worst_first


def build_lint_document(files: Iterable[Linted], *, show_all: bool = False) -> dict[str, Any]:
    """Return the document: a file, or a broker of a file that holds several (`inside`), with findings as in `findings.json`.

    What passes, or does not apply, is listed with `show_all`.
    """
    return {"files": [_file(linted_file, show_all=show_all) for linted_file in files]}


def shown_findings(file: Linted, *, show_all: bool) -> Sequence[LintedFinding]:
    """Return what is shown of a file, the worst first."""
    quiet = () if show_all else (Status.PASS, Status.NOT_APPLICABLE)
    return sorted(
        (linted for linted in file.linted_findings if linted.finding.status not in quiet),
        key=lambda linted: worst_first(linted.finding),
    )


def _file(file: Linted, *, show_all: bool) -> Mapping[str, Any]:
    return {
        "path": file.path,
        **({"inside": file.inside} if file.inside else {}),
        "kafka_version": file.kafka_version,
        **({"neighbour_of": file.neighbour_of} if file.neighbour_of else {}),
        "starts": file.starts,
        "kafka_says": file.kafka_says,
        **({"remarks": [{"line": remark.line, "text": remark.text} for remark in file.remarks]} if file.remarks else {}),
        "findings": report_json(tuple(_finding(linted) for linted in shown_findings(file, show_all=show_all))),
    }


def _finding(linted: LintedFinding) -> ReportedFinding:
    row, why = reported_finding(linted.finding), linted.muted_because
    return structs.replace(row, evidence={**row.evidence, "muted_because": why}) if why else row
