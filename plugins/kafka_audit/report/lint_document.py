"""The JSON document of `lint`: the contract of design and outside tests."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_audit.model.finding import Status
from kafka_audit.model.linted import Linted, LintedFinding
from kafka_audit.report.document import finding_dict, worst_first


def build_lint_document(files: Iterable[Linted], *, show_all: bool = False) -> dict[str, Any]:
    """Return the document: a file, or a broker of a file that holds several (`inside`), with findings as in `findings.json`.

    What passes, or does not apply, is listed with `show_all`.
    """
    return {"files": [_file(one, show_all=show_all) for one in files]}


def shown_findings(file: Linted, *, show_all: bool) -> Sequence[LintedFinding]:
    """Return what is shown of a file, the worst first."""
    quiet = () if show_all else (Status.PASS, Status.NOT_APPLICABLE)
    return sorted((one for one in file.told if one.finding.status not in quiet), key=lambda one: worst_first(one.finding))


def _file(file: Linted, *, show_all: bool) -> Mapping[str, Any]:
    return {
        "path": file.path,
        **({"inside": file.inside} if file.inside else {}),
        "kafka_version": file.kafka_version,
        "starts": file.starts,
        "kafka_says": file.kafka_says,
        "findings": [_finding(one) for one in shown_findings(file, show_all=show_all)],
    }


def _finding(told: LintedFinding) -> Mapping[str, Any]:
    found = finding_dict(told.finding)
    return found | {"evidence": {**found["evidence"], "muted_because": told.muted_because}} if told.muted_because else found
