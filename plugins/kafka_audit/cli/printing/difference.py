"""What `diff` prints: what changed between two snapshots, and what became of each failure."""

from kafka_audit.model.finding import Severity
from kafka_audit.model.report import Report, ReportedChange, ReportedFinding
from kafka_audit.model.text import clean, counted, our_line
from kafka_audit.report.text import wrap

LIVES = (
    ("new", "New"),
    ("ongoing", "Ongoing"),
    ("resolved", "Resolved"),
    ("incomparable", "Failed before, unknown now"),
)


def difference_text(document: Report, *, color: bool, width: int) -> str:
    """Return the comparison as text, wrapped; every string that a cluster supplied is cleaned."""
    lines = [f"{document.cluster}: {document.previous_snapshot_id} -> {document.snapshot_id}"]
    changes = document.changes
    lines += ["", strong(counted(len(changes), "change"), color=color)]
    lines += [f"  {clean(c.kind).replace('_', ' ')}: {clean(c.resource)}{_from_to(c)}" for c in changes]
    for life, title in LIVES:
        found = [finding for finding in document.findings if _belongs(finding, life)]
        if found:
            lines += ["", strong(f"{title} ({len(found)})", color=color)]
            lines += [line for finding in sorted(found, key=severity_key) for line in finding_lines(finding, life, width)]
    if not any(_belongs(finding, life) for finding in document.findings for life, _ in LIVES):
        lines += ["", "No failures in either snapshot."]
    return "\n".join(lines)


def _belongs(finding: ReportedFinding, life: str) -> bool:
    """Return whether a finding is listed: failures, and what earlier failures became."""
    failed_before = life in {"resolved", "incomparable"}
    return finding.lifecycle == life and (failed_before or finding.status == "FAIL")


def severity_key(finding: ReportedFinding) -> tuple[int, str, str]:
    """Return the key by which findings are sorted."""
    return -Severity[finding.severity], finding.code, finding.resource.name


def finding_lines(finding: ReportedFinding, life: str, width: int) -> list[str]:
    """Return the lines of a finding; one that is resolved has its former severity."""
    muted = " (muted)" if finding.muted else ""
    where = clean(finding.resource.name)
    severity = f"was {finding.severity}" if life == "resolved" else f"{finding.severity:<8}"
    start = f"  {severity}  {finding.code}  "
    return [*wrap(f"{where}{muted}: {our_line(finding.message, 1000)}", width, start, " " * len(start))]


def _from_to(change: ReportedChange) -> str:
    before, after = change.before, change.after
    if before is None and after is None:
        return ""
    return f"  {'-' if before is None else clean(before)} -> {'-' if after is None else clean(after)}"


def strong(text: str, *, color: bool) -> str:
    """Return a heading."""
    return f"\x1b[1m{text}\x1b[0m" if color else text
