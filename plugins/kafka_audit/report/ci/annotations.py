"""GitHub's workflow commands: each finding becomes an annotation at its line of a pull request."""

from collections.abc import Iterable

from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.linted import Linted, LintedFinding
from kafka_audit.model.text import clean, inert, our_line
from kafka_audit.report.lint_document import shown_findings
from kafka_audit.report.remedies import LONGEST_PARAGRAPH


def github_annotations(files: Iterable[Linted]) -> str:
    """Return a line for each failure that is not muted, and for each remark; nothing where there is none."""
    files = tuple(files)
    failed = (
        (file, linted)
        for file in files
        for linted in shown_findings(file, show_all=False)
        if linted.finding.status is Status.FAIL and not linted.finding.muted
    )
    remarks = (_annotation("notice", file, remark.line, "lint", remark.text) for file in files for remark in file.remarks)
    return "".join(f"{line}\n" for line in (*(_line(file, linted) for file, linted in failed), *remarks))


def _line(file: Linted, linted: LintedFinding) -> str:
    finding = linted.finding
    kind = "error" if finding.severity >= Severity.HIGH else "warning" if finding.severity is Severity.MEDIUM else "notice"
    line = linted.place.line if linted.place else 1
    title = f"{finding.code} {finding.name.replace('_', ' ')}"
    return _annotation(kind, file, line, title, f"{finding.message}\n{finding.remediation}")


def _annotation(kind: str, file: Linted, line: int, title: str, message: str) -> str:
    text = "\n".join(our_line(row, LONGEST_PARAGRAPH) for row in message.splitlines())
    return f"::{kind} file={_property(clean(file.path, 4096))},line={line},title={_property(title)}::{_message(text)}"


def _message(text: str) -> str:
    return inert(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
