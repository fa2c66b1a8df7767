"""What the findings of a report are worth, by their codes; `words` judges what it prints. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from testbed.corpus.catalogue import Fault

SERIOUS = ("HIGH", "CRITICAL")
Failing = dict[tuple[str, str], str]


@dataclass(frozen=True, kw_only=True)
class Score:
    """How a report did on a fault.

    Attributes:
        verdict: one of `words.VERDICTS`.
        failing: severity by (code, resource) that this fault made fail, or that it was expected to.
        missing: expected findings that did not fail.
        false: codes that failed, or headed an incident, and must not.
        headline: of the first incident, else the message of the finding that names the cause.
    """

    verdict: str
    failing: Failing
    missing: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    headline: str = ""


def failing(report: Mapping[str, Any]) -> Failing:
    """Return the severity of each unmuted failure by (code, resource)."""
    return {
        (finding["code"], finding["resource"]["name"]): finding["severity"]
        for finding in report["findings"]
        if finding["status"] == "FAIL" and not finding["muted"]
    }


def alarms(reports: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return what reports on a healthy cluster must not fail: messages by code and resource.

    That is all of severity HIGH and above, and below it reads that failed (KA001) or that the auditor may not do (KA002).
    """
    return {
        f"{finding['code']} {finding['resource']['name']}": finding["message"]
        for report in reports
        for finding in report["findings"]
        if finding["status"] == "FAIL" and not finding["muted"]
        if finding["severity"] in SERIOUS or finding["code"] in {"KA001", "KA002"}
    }


def unread(reports: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the errors of reads without an answer, and the messages that call an answer unreadable, by where they are."""
    found: dict[str, str] = {}
    for report in reports:
        found |= {f"{gap['observer']} {gap['operation']}": str(gap["error"]) for gap in report["coverage"]["unknown"]}
        unreadable = (finding for finding in report["findings"] if "unreadable" in finding["message"])
        found |= {f"{finding['code']} {finding['resource']['name']}": finding["message"] for finding in unreadable}
    return found


def score(fault: Fault, before: Failing, report: Mapping[str, Any]) -> Score:
    """Return what a report on a broken cluster is worth; `before` is what failed before it was broken."""
    now = failing(report)
    expected = {found for found in now if any(want.matches(*found) for want in fault.report)}
    fresh = {found: severity for found, severity in now.items() if found not in before or found in expected}
    missing = [
        " ".join(filter(None, (want.code, want.resource)))
        for want in fault.report
        if not any(want.matches(*found) for found in now)
    ]
    known = {code for code, _ in before}
    incidents = [
        incident for incident in report["incidents"] if incident["cause"] not in known or incident["cause"] in fault.cause
    ]
    true = {*fault.cause, *fault.also, *(want.code for want in fault.report)}
    false = sorted({code for code, _ in fresh if code in fault.never} | {incident["cause"] for incident in incidents} - true)
    return Score(
        verdict=_verdict(fault, incidents, fresh, false=bool(false)),
        failing=fresh,
        missing=missing,
        false=false,
        headline=_headline(fault, incidents, report),
    )


def _verdict(fault: Fault, incidents: list[dict[str, Any]], fresh: Failing, *, false: bool) -> str:
    codes = {code for code, _ in fresh}
    if incidents and incidents[0]["cause"] not in fault.cause:
        if incidents[0]["confidence"] == "suspected":
            return "undecided"
        return "wrong" if false else "symptom"
    if false:
        return "wrong"
    if codes & set(fault.cause):
        return "cause"
    return "symptom" if codes & {*fault.also, *(want.code for want in fault.report)} else "silent"


def _headline(fault: Fault, incidents: list[dict[str, Any]], report: Mapping[str, Any]) -> str:
    if incidents:
        return str(incidents[0]["headline"])
    of_cause = (
        finding["message"] for finding in report["findings"] if finding["code"] in fault.cause and finding["status"] == "FAIL"
    )
    return next(of_cause, "")


def left(fault: Fault, broken: Failing, before: Failing, report: Mapping[str, Any]) -> list[str]:
    """Return what a repaired cluster still fails: of what the fault made fail and was to end, and anything serious and new."""
    now = failing(report)
    ends = {want.code for want in fault.report} | set(fault.cause)
    ends -= set(fault.lasting)
    still = {found for found in now if found in broken and found[0] in ends}
    still |= {found for found, severity in now.items() if severity in SERIOUS and found not in before}
    return sorted(f"{code} {resource}" for code, resource in still if code not in fault.lasting)
