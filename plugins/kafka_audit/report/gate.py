"""The gate: whether a report passes, by the severity of its failures and by its coverage. Pure."""

from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.report import Report, ReportedFinding
from kafka_audit.model.text import clean, counted, our_line

CLEAN, FAILED, UNCOVERED = 0, 3, 4
"""Exit codes of the gate (contract)."""


def evaluate_gate(document: Report, fail_on: str, min_coverage: float) -> tuple[int, str]:
    """Decide whether a report passes.

    Args:
        document: a `findings.json`.
        fail_on: name of the severity from which an unmuted FAIL fails, in any case.
        min_coverage: share of the asked reads, 0 to 1, that must have been answered.

    Returns:
        The exit code (0 clean, 3 failed, 4 nothing failed but too little was answered), and why in one sentence.

    Raises:
        UsageError: there is no such severity.
    """
    least = severity_of(fail_on)
    failed = [finding for finding in document.findings if fails_gate(finding, least)]
    if failed:
        return FAILED, _headline(document, failed)
    asked, answered = document.coverage.asked, document.coverage.answered
    if answered < min_coverage * asked or (not asked and min_coverage > 0):
        unknown = document.coverage.unknown
        first = f", first failed read: {clean(unknown[0].observer)} {clean(unknown[0].operation)}" if unknown else ""
        return UNCOVERED, f"only {answered} of {asked} reads were answered{first}; checks without data are unknown"
    return CLEAN, f"clean: no failure of severity {least.name} or above, {answered} of {asked} reads answered"


def severity_of(name: str) -> Severity:
    """Return the severity of that name, in any case; raises `UsageError` for another word."""
    try:
        return Severity[name.upper()]
    except KeyError:
        msg = f"{name!r} is not a severity; choose one of {', '.join(s.name.lower() for s in reversed(Severity))}"
        raise UsageError(msg) from None


def fails_gate(finding: ReportedFinding, least: Severity) -> bool:
    """Return whether a finding of a report keeps the gate shut."""
    return finding.status == Status.FAIL and not finding.muted and Severity[finding.severity] >= least


def _headline(document: Report, failed: list[ReportedFinding]) -> str:
    """Return the first headline that explains a failure, else the worst failure's own message."""
    fingerprints = {finding.fingerprint for finding in failed}
    reported = [incident for incident in document.incidents if fingerprints.intersection(incident.inside)]
    if reported:
        more = len(reported) - 1
        return our_line(reported[0].headline) + (f"; {counted(more, 'more incident')}" if more else "")
    worst = max(failed, key=lambda finding: Severity[finding.severity])
    more = len(failed) - 1
    return our_line(worst.message) + (f"; {counted(more, 'more finding')}" if more else "")
