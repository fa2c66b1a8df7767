"""Go or no-go: the audit's findings, the checks of the gate, what proposed files would break, and who must reach whom."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

from kafka_audit import audit
from kafka_audit.change.plan import TITLES, Kind, Plan
from kafka_audit.checks import catalogue
from kafka_audit.checks.rows import looks
from kafka_audit.engine import findings, rows
from kafka_audit.lint import files
from kafka_audit.lint.judging import Rules
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Finding, Severity, Status
from kafka_audit.model.tables import PlannedNode, Probe, Snapshot, Verdict
from kafka_audit.model.text import clean, counted

GO, NO_GO, NOT_DECIDED = "go", "no-go", "not decided"
EXIT_CODES = {GO: audit.CLEAN, NO_GO: audit.FAILED, NOT_DECIDED: audit.UNCOVERED}


@dataclass(frozen=True, kw_only=True)
class Item:
    """One line of the report. `source`: audit, gate, `proposed <path>` or `vantage <name>`."""

    source: str
    code: str
    resource: str
    message: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class _Sorted:
    """What speaks against the change, what to know of, what nobody knows, what to keep in mind afterwards."""

    blockers: list[Item]
    warnings: list[Item]
    not_known: list[Item]
    information: list[Item]


def decide(document: Mapping[str, Any], snapshot: Snapshot, plan: Plan, now: datetime) -> dict[str, Any]:
    """Return the report of the gate before a change.

    Args:
        document: the audit's report on the snapshot.
        snapshot: the cluster as it is.
        plan: what is to be done.
        now: with a time zone.

    Raises:
        UsageError: a proposed file cannot be read.
    """
    found = _Sorted(blockers=[], warnings=[], not_known=[], information=[])
    _audit(document, plan, found)
    _gate(document, snapshot, plan, now.date(), found)
    _proposed(snapshot, plan, now.date(), found)
    for name in plan.vantages:
        _vantage(snapshot, name, found)
    coverage = document["coverage"]
    open_questions = [one for one in found.not_known if one.source != "audit"]
    complete = coverage["answered"] >= coverage["asked"] > 0
    verdict = NO_GO if found.blockers else GO if complete and not open_questions else NOT_DECIDED
    return {
        "schema_version": 1,
        "cluster": document["cluster"],
        "snapshot_id": document["snapshot_id"],
        "decided_at": now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "plan": plan.as_dict(),
        "verdict": verdict,
        "headline": _headline(document, plan, verdict, found, len(open_questions)),
        "coverage": {"asked": coverage["asked"], "answered": coverage["answered"]},
        **{name: [asdict(one) for one in getattr(found, name)] for name in ("blockers", "warnings", "not_known", "information")},
    }


def _headline(document: Mapping[str, Any], plan: Plan, verdict: str, found: _Sorted, questions: int) -> str:
    what = f"{verdict.upper()} for {clean(document['cluster'])}, {TITLES[plan.kind]}"
    if verdict == NO_GO:
        first = found.blockers[0]
        return f"{what}: {counted(len(found.blockers), 'blocker')}, first {first.code} {clean(first.resource)}"
    answered = f"{document['coverage']['answered']} of {document['coverage']['asked']} reads answered"
    if verdict == NOT_DECIDED:
        return f"{what}: {counted(questions, 'open question')}, {answered}"
    return f"{what}: nothing of severity {plan.strict.upper()} or above, {answered}"


def _audit(document: Mapping[str, Any], plan: Plan, found: _Sorted) -> None:
    least = audit.severity(plan.strict)
    for one in document["findings"]:
        if one["muted"]:
            continue
        item = Item(
            source="audit", code=one["code"], resource=one["resource"]["name"], message=one["message"], remedy=one["remediation"]
        )
        if audit.counts(one, least):
            found.blockers.append(item)
        elif one["status"] == Status.FAIL and Severity[one["severity"]] >= Severity.MEDIUM:
            found.warnings.append(item)
        elif one["status"] == Status.UNKNOWN:
            found.not_known.append(item)


def _gate(document: Mapping[str, Any], snapshot: Snapshot, plan: Plan, today: date, found: _Sorted) -> None:
    if plan.kind is not Kind.ZOOKEEPER_TO_KRAFT:
        return
    added = (*(PlannedNode(node_id=number) for number in plan.node_ids), *_verdicts(document))
    judged = rows.judge_rows(replace(snapshot, rows=(*snapshot.rows, *added)), kind="gate")
    for one in findings.conclude(snapshot, None, judged, mutes=(), previous_report=None, today=today):
        _sort(one, "gate", Severity.HIGH, found)


def _verdicts(document: Mapping[str, Any]) -> Iterator[Verdict]:
    """Yield what the audit said; a check of the catalogue of which no row speaks has passed, for PASS is not listed."""
    spoken = set()
    for one in document["findings"]:
        spoken.add(one["code"])
        evidence = one["evidence"]
        yield Verdict(
            code=one["code"],
            resource=one["resource"]["name"],
            status=one["status"],
            error=evidence.get("error"),
            needs=evidence.get("needs"),
        )
    for code in catalogue():
        if code not in spoken:
            yield Verdict(code=code, resource="cluster", status=Status.PASS)


def _proposed(snapshot: Snapshot, plan: Plan, today: date, found: _Sorted) -> None:
    if not plan.proposed:
        return
    rules = Rules(checks=catalogue(), mutes=(), today=today, version=plan.version, against=snapshot, show_all=False)
    outcome = files.lint(plan.proposed, rules)
    if outcome.errors:
        raise UsageError(outcome.errors[0])
    for file in outcome.files:
        for told in file.told:
            if not told.finding.muted:
                _sort(told.finding, f"proposed {file.path}", audit.severity(plan.strict), found)


def _sort(one: Finding, source: str, least: Severity, found: _Sorted) -> None:
    item = Item(source=source, code=one.code, resource=one.resource.name, message=one.message, remedy=one.remediation)
    if one.status is Status.FAIL:
        into = (
            found.blockers if one.severity >= least else found.warnings if one.severity >= Severity.MEDIUM else found.information
        )
        into.append(item)
    elif one.status is Status.UNKNOWN:
        found.not_known.append(item)


def _vantage(snapshot: Snapshot, name: str, found: _Sorted) -> None:
    """Hold a vantage against every endpoint that it tried."""
    now, _ = looks(snapshot)
    source = f"vantage {name}"
    tried = [row for row in snapshot.of(Probe) if row.vantage == name and row.sample == now]
    if not tried:
        remedy = f"To know: `vantages: {{{name}: …}}` in the cluster file, and a new snapshot"
        message = f"Not known: whether {name} reaches the brokers. No probe started there"
        found.not_known.append(Item(source=source, code="KA301", resource="cluster", message=message, remedy=remedy))
    for resource, row in _worst(tried):
        where = f"{clean(row.host)}:{row.port}"
        if row.outcome == "failed":
            message = f"{clean(name)} does not reach {where}: {row.layer}, {clean(row.error or 'failed')}"
            found.blockers.append(Item(source=source, code="KA301", resource=resource, message=message))
        elif row.outcome == "unknown":
            message = f"Not known: whether {clean(name)} reaches {where} ({row.layer}: {clean(row.error or 'not tried')})"
            item = Item(source=source, code="KA301", resource=resource, message=message, remedy=f"To know: {row.needs}")
            found.not_known.append(item)


def _worst(tried: Iterable[Probe]) -> list[tuple[str, Probe]]:
    order = ("ok", "unknown", "failed")
    worst: dict[str, Probe] = {}
    for row in tried:
        resource = f"broker/{row.broker_id}/listener/{row.listener}"
        if resource not in worst or order.index(row.outcome) > order.index(worst[resource].outcome):
            worst[resource] = row
    return sorted(worst.items())
