"""GitHub's workflow commands: each finding becomes an annotation at its line of a pull request."""

from collections.abc import Iterable

from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.linted import Linted, LintedFinding
from kafka_audit.model.text import clean, inert
from kafka_audit.report.lint_document import shown_findings


def github_annotations(files: Iterable[Linted]) -> str:
    """Return a line for each failure that is not muted; nothing where there is none."""
    failed = (
        (file, linted)
        for file in files
        for linted in shown_findings(file, show_all=False)
        if linted.finding.status is Status.FAIL and not linted.finding.muted
    )
    return "".join(f"{_line(file, linted)}\n" for file, linted in failed)


def _line(file: Linted, linted: LintedFinding) -> str:
    finding = linted.finding
    kind = "error" if finding.severity >= Severity.HIGH else "warning" if finding.severity is Severity.MEDIUM else "notice"
    line = linted.place.line if linted.place else 1
    title = f"{finding.code} {finding.name.replace('_', ' ')}"
    text = "\n".join(clean(row, 2000) for part in (finding.message, finding.remediation) for row in part.splitlines())
    return f"::{kind} file={_property(clean(file.path, 4096))},line={line},title={_property(title)}::{_message(text)}"


def _message(text: str) -> str:
    return inert(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
