"""Go or no-go: the audit's findings, the checks of the gate, faults in proposed files, and the required reachability."""

import secrets
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import Any

from kafka_audit.checks import catalogue
from kafka_audit.checks.listeners.endpoint_unreachable import endpoint_judgement
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import ClusterView
from kafka_audit.faults.serve_edges import ServeEdges
from kafka_audit.incidents import findings
from kafka_audit.lint import files, rolled
from kafka_audit.lint.judging import Rules
from kafka_audit.lint.rolled import Roll, roll_of
from kafka_audit.migration import addresses, reachability, rolling_upgrade
from kafka_audit.migration.items import GateItem, GateItems
from kafka_audit.migration.plan import OF_QUORUM, TITLES, Kind, Plan
from kafka_audit.migration.predictions import predictions, roll_items
from kafka_audit.migration.proposed_listeners import ProposedListeners
from kafka_audit.migration.quorum.change import quorum_items, quorum_steps, voters_agreed
from kafka_audit.migration.quorum.planned_steps import PlannedStep
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Finding, Severity, Status, as_text
from kafka_audit.model.report import Report
from kafka_audit.model.tables import PlannedNode, PlannedUpgrade, Verdict
from kafka_audit.model.text import clean, counted
from kafka_audit.report import gate
from kafka_audit.report.verdicts import GO, NO_GO, NOT_DECIDED

_OPEN_IN_FILES = frozenset({"KA310", "KA407", *rolled.CODES})
"""What a proposed file alone can answer: whether it starts, and what it breaks."""

_NO_RESTART = frozenset({"KA603"})
"""Checks that fail while no broker may be restarted, however severe they are: a partition has lost replicas down to min ISR."""

_BY_ADDRESS = ("KA303", "KA304")
"""Checks of one address, and of addresses compared with others."""


def report_before_change(
    document: Report, view: ClusterView, plan: Plan, tried: ProposedListeners, now: datetime
) -> dict[str, Any]:
    """Return the report of the gate before a change.

    Args:
        document: the audit's report on the snapshot.
        view: the cluster as it is, judged.
        plan: what is to be done.
        tried: the addresses that it gives to brokers, and how far one got to them.
        now: with a time zone.

    Raises:
        UsageError: a proposed file cannot be read.
    """
    items = GateItems()
    _audit(document, plan, items)
    _gate(document, view, plan, now.date(), items)
    _quorum(view, plan, tried, now.date(), items)
    roll = _roll(view, plan, items)
    _proposed(view, plan, roll, now.date(), items)
    _addresses(view, plan, tried, now.date(), items)
    for name in plan.vantages:
        _vantage(view, name, tried, items)
    coverage = document.coverage
    open_questions = [item for item in items.not_known if item.source != "audit"]
    complete = coverage.answered >= coverage.asked > 0
    verdict = NO_GO if items.blockers else GO if complete and not open_questions else NOT_DECIDED
    subject = f"{clean(document.cluster)}, {TITLES[plan.kind]}"
    reason = _reason(document, plan, verdict, items, len(open_questions))
    return {
        "schema_version": 1,
        "cluster": document.cluster,
        "snapshot_id": document.snapshot_id,
        "decided_at": now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "plan": plan.as_dict(),
        "advertised": [asdict(endpoint) for endpoint in tried.proposed],
        "verdict": verdict,
        "subject": subject,
        "reason": reason,
        "headline": f"{verdict.upper()} for {subject}: {reason}",
        "coverage": {"asked": coverage.asked, "answered": coverage.answered},
        **{
            name: [asdict(entry) for entry in getattr(items, name)]
            for name in ("blockers", "warnings", "not_known", "information")
        },
        "predictions": [*predictions(view, plan, roll, items.blockers)],
        "half_rolled": None if roll is None else roll.as_dict(),
        "steps": [step.as_dict() for step in _steps(view, plan, tried, items)],
    }


def _steps(view: ClusterView, plan: Plan, tried: ProposedListeners, items: GateItems) -> tuple[PlannedStep, ...]:
    if plan.kind is not Kind.ROLLING_UPGRADE:
        return quorum_steps(view, plan, tried.by_lines)
    refused = any(item.code == rolling_upgrade.REFUSED for item in items.blockers)
    return () if refused else tuple(rolling_upgrade.upgrade_steps(view, plan))


def _reason(document: Report, plan: Plan, verdict: str, items: GateItems, questions: int) -> str:
    if verdict == NO_GO:
        first = items.blockers[0]
        return f"{counted(len(items.blockers), 'blocker')}, first {first.code} {clean(first.resource)}"
    answered = f"{document.coverage.answered} of {document.coverage.asked} reads answered"
    if verdict == NOT_DECIDED:
        return f"{counted(questions, 'open question')}, {answered}"
    return f"no failure of severity {plan.strict.upper()} or above, {answered}"


def _audit(document: Report, plan: Plan, items: GateItems) -> None:
    least = gate.severity_of(plan.strict)
    for finding in document.findings:
        if finding.muted:
            continue
        item = GateItem(
            source="audit",
            code=finding.code,
            resource=finding.resource.name,
            message=finding.message,
            remedy=finding.remediation,
        )
        waits = plan.kind not in OF_QUORUM and finding.code in _NO_RESTART and finding.status is Status.FAIL
        if waits or gate.fails_gate(finding, least):
            items.blockers.append(item)
        elif finding.status == Status.FAIL and Severity[finding.severity] >= Severity.MEDIUM:
            items.warnings.append(item)
        elif finding.status == Status.UNKNOWN:
            items.not_known.append(item)


def _gate(document: Report, view: ClusterView, plan: Plan, today: date, items: GateItems) -> None:
    """Run the checks of a migration to KRaft, or those of an upgrade."""
    upgrade = plan.kind is Kind.ROLLING_UPGRADE
    if upgrade:
        planned = rolling_upgrade.upgraded_view(view, plan)
    elif plan.kind is Kind.ZOOKEEPER_TO_KRAFT:
        added = (*(PlannedNode(node_id=number) for number in plan.node_ids), *_verdicts(document))
        planned = view.with_rows((*view.snapshot.rows, *added))
    else:
        return
    plans = {code: any(table is PlannedUpgrade for table in check.needs) for code, check in catalogue().items()}
    judged = judge(planned, {code: catalogue()[code] for code, is_upgrade in plans.items() if is_upgrade is upgrade}, kind="gate")
    for finding in findings.findings_with_lifecycle(planned, judged, mutes=(), previous_report=None, today=today):
        _sort(finding, "gate", Severity.HIGH, items)


def _quorum(view: ClusterView, plan: Plan, tried: ProposedListeners, today: date, items: GateItems) -> None:
    """Judge a change of the quorum. What it must have is a blocker, and is no item of the audit as well."""
    judged = voters_agreed(view, plan)
    here = {(judgement.code, judgement.resource) for judgement in judged}
    for kept in (items.blockers, items.warnings, items.not_known):
        kept[:] = [item for item in kept if (item.code, item.resource) not in here]
    for finding in findings.findings_with_lifecycle(view, judged, mutes=(), previous_report=None, today=today):
        _sort(finding, "gate", Severity.LOW, items)
    for headed in quorum_items(view, plan, tried.by_lines):
        items.add(headed)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _verdicts(document: Report) -> Iterator[Verdict]:
    """Yield the findings of the audit; a check of the catalogue without a row has passed, because PASS is not listed."""
    reported_codes = set()
    for finding in document.findings:
        reported_codes.add(finding.code)
        yield Verdict(
            code=finding.code,
            resource=finding.resource.name,
            status=finding.status.value,
            error=_text(finding.evidence.get("error")),
            needs=_text(finding.evidence.get("needs")),
        )
    for code in catalogue():
        if code not in reported_codes:
            yield Verdict(code=code, resource="cluster", status=Status.PASS)


def _roll(view: ClusterView, plan: Plan, items: GateItems) -> Roll | None:
    """Judge the states between old and new files; None for changes of the quorum, and without files of brokers."""
    if not plan.proposed or plan.kind in OF_QUORUM:
        return None
    roll = roll_of(view, files.serving(plan.proposed, catalogue()), secrets.token_bytes(32))
    for headed in roll_items(roll):
        items.add(headed)
    return roll if roll.nodes else None


def _proposed(view: ClusterView, plan: Plan, roll: Roll | None, today: date, items: GateItems) -> None:
    if not plan.proposed:
        return
    rules = Rules(checks=catalogue(), mutes=(), today=today, version=plan.version, against=view, show_all=False)
    outcome = files.lint_files(plan.proposed, rules)
    if outcome.errors:
        raise UsageError(outcome.errors[0])
    for file in outcome.files:
        for linted in file.linted_findings:
            # `_addresses` judges all new addresses together, and the audit judges what files leave open.
            finding = linted.finding
            answered = finding.code in {"KA301", *_BY_ADDRESS} or (
                finding.status is Status.UNKNOWN and finding.code not in _OPEN_IN_FILES
            )
            # What the roll breaks is said once, with its order (`roll_items`).
            answered |= roll is not None and finding.evidence.get("when") is not None and finding.code in rolled.CODES
            if not finding.muted and not answered:
                _sort(linted.finding, f"proposed {file.path}", gate.severity_of(plan.strict), items)


def _sort(finding: Finding, source: str, least: Severity, items: GateItems) -> None:
    item = GateItem(
        source=source, code=finding.code, resource=finding.resource.name, message=finding.message, remedy=finding.remediation
    )
    if finding.status is Status.FAIL:
        into = (
            items.blockers
            if finding.severity >= least
            else items.warnings
            if finding.severity >= Severity.MEDIUM
            else items.information
        )
        into.append(item)
    elif finding.status is Status.UNKNOWN:
        items.not_known.append(item)


def _owner(plan: Plan) -> str:
    return "controller" if plan.kind is Kind.CONTROLLER_HOSTS else "broker"


def _addresses(view: ClusterView, plan: Plan, tried: ProposedListeners, today: date, items: GateItems) -> None:
    """Judge the planned advertised addresses: each one, compared with all others, and by their probes."""
    for item in (
        *(() if plan.kind is Kind.CONTROLLER_HOSTS else addresses.misplaced(tried.by_lines, view)),
        *addresses.contradictions(tried.proposed),
        *reachability.reachability_items(tried.new, tried.probes, plan.vantages, tried.between, _owner(plan)),
    ):
        items.add(item)
    if not tried.new:
        return
    own, changed = (
        {code: catalogue()[code] for code in _BY_ADDRESS},
        {addresses.endpoint_resource(endpoint) for endpoint in tried.new},
    )
    before = {(judgement.code, judgement.resource) for judgement in judge(view, own) if judgement.status is Status.FAIL}
    after = addresses.view_with_proposed(tried.new, tried.probes, view)
    failed = [judgement for judgement in judge(after, own) if judgement.status is Status.FAIL]
    caused = [
        judgement for judgement in failed if judgement.resource in changed or (judgement.code, judgement.resource) not in before
    ]
    for finding in findings.findings_with_lifecycle(after, caused, mutes=(), previous_report=None, today=today):
        _sort(finding, addresses.SOURCE, gate.severity_of(plan.strict), items)


def _vantage(view: ClusterView, name: str, tried: ProposedListeners, items: GateItems) -> None:
    """Hold a vantage against every endpoint that it tried and that stays."""
    source = f"vantage {name}"
    edges = view.derived(ServeEdges).beginning_at(name)
    if not edges and not any(row.vantage == name for row in tried.probes):
        remedy = f"Needed: `vantages: {{{name}: …}}` in the cluster file, and a new snapshot"
        message = f"Cannot determine whether {name} reaches the brokers, because no probe started there"
        items.not_known.append(GateItem(source=source, code="KA301", resource="cluster", message=message, remedy=remedy))
    replaced = {(endpoint.broker_id, endpoint.listener) for endpoint in tried.new}
    for endpoint, own in edges.items():
        judged = endpoint_judgement(view, endpoint, own)
        if (endpoint.broker_id, endpoint.listener) in replaced or judged.status is Status.PASS:
            continue
        where, why, remedy = clean(endpoint.address), clean(as_text(judged.evidence["error"])), ""
        message = f"{clean(name)} does not reach {where}: {judged.evidence['layer']}, {why}"
        if judged.status is Status.UNKNOWN:
            message = f"Cannot determine whether {clean(name)} reaches {where} ({judged.evidence['layer']}: {why})"
            remedy = f"Needed: {judged.evidence['needs']}"
        into = items.blockers if judged.status is Status.FAIL else items.not_known
        into.append(GateItem(source=source, code="KA301", resource=endpoint.resource, message=message, remedy=remedy))
