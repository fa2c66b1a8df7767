"""Go or no-go: the audit's findings, the checks of the gate, what proposed files would break, and who must reach whom."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import Any

from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents import findings
from kafka_audit.lint import against, files
from kafka_audit.lint.judging import Rules
from kafka_audit.migration import addresses, reachability
from kafka_audit.migration.items import GateItem, GateItems
from kafka_audit.migration.plan import TITLES, Kind, Plan
from kafka_audit.migration.proposed_listeners import ProposedListeners
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Finding, Severity, Status
from kafka_audit.model.tables import PlannedNode, Probe, Verdict
from kafka_audit.model.text import clean, counted
from kafka_audit.report import gate

GO, NO_GO, NOT_DECIDED = "go", "no-go", "not decided"
_OPEN_IN_FILES = frozenset({"KA310", *against.CHECKS})
"""What a proposed file alone can answer: whether it starts, and what it breaks."""

_BY_ADDRESS = ("KA303", "KA304")
"""Checks that judge an address by itself and beside the others."""

EXIT_CODES = {GO: gate.CLEAN, NO_GO: gate.FAILED, NOT_DECIDED: gate.UNCOVERED}


def report_before_change(
    document: Mapping[str, Any], view: ClusterView, plan: Plan, tried: ProposedListeners, now: datetime
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
    found = GateItems()
    _audit(document, plan, found)
    _gate(document, view, plan, now.date(), found)
    _proposed(view, plan, now.date(), found)
    _addresses(view, plan, tried, now.date(), found)
    for name in plan.vantages:
        _vantage(view, name, tried, found)
    coverage = document["coverage"]
    open_questions = [one for one in found.not_known if one.source != "audit"]
    complete = coverage["answered"] >= coverage["asked"] > 0
    verdict = NO_GO if found.blockers else GO if complete and not open_questions else NOT_DECIDED
    subject = f"{clean(document['cluster'])}, {TITLES[plan.kind]}"
    reason = _reason(document, plan, verdict, found, len(open_questions))
    return {
        "schema_version": 1,
        "cluster": document["cluster"],
        "snapshot_id": document["snapshot_id"],
        "decided_at": now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "plan": plan.as_dict(),
        "advertised": [asdict(one) for one in tried.proposed],
        "verdict": verdict,
        "subject": subject,
        "reason": reason,
        "headline": f"{verdict.upper()} for {subject}: {reason}",
        "coverage": {"asked": coverage["asked"], "answered": coverage["answered"]},
        **{name: [asdict(one) for one in getattr(found, name)] for name in ("blockers", "warnings", "not_known", "information")},
    }


def _reason(document: Mapping[str, Any], plan: Plan, verdict: str, found: GateItems, questions: int) -> str:
    if verdict == NO_GO:
        first = found.blockers[0]
        return f"{counted(len(found.blockers), 'blocker')}, first {first.code} {clean(first.resource)}"
    answered = f"{document['coverage']['answered']} of {document['coverage']['asked']} reads answered"
    if verdict == NOT_DECIDED:
        return f"{counted(questions, 'open question')}, {answered}"
    return f"no failure of severity {plan.strict.upper()} or above, {answered}"


def _audit(document: Mapping[str, Any], plan: Plan, found: GateItems) -> None:
    least = gate.severity_of(plan.strict)
    for one in document["findings"]:
        if one["muted"]:
            continue
        item = GateItem(
            source="audit", code=one["code"], resource=one["resource"]["name"], message=one["message"], remedy=one["remediation"]
        )
        if gate.fails_gate(one, least):
            found.blockers.append(item)
        elif one["status"] == Status.FAIL and Severity[one["severity"]] >= Severity.MEDIUM:
            found.warnings.append(item)
        elif one["status"] == Status.UNKNOWN:
            found.not_known.append(item)


def _gate(document: Mapping[str, Any], view: ClusterView, plan: Plan, today: date, found: GateItems) -> None:
    if plan.kind is not Kind.ZOOKEEPER_TO_KRAFT:
        return
    added = (*(PlannedNode(node_id=number) for number in plan.node_ids), *_verdicts(document))
    planned = view.with_rows((*view.snapshot.rows, *added))
    judged = judge(planned, kind="gate")
    for one in findings.findings_with_lifecycle(planned, judged, mutes=(), previous_report=None, today=today):
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


def _proposed(view: ClusterView, plan: Plan, today: date, found: GateItems) -> None:
    if not plan.proposed:
        return
    rules = Rules(checks=catalogue(), mutes=(), today=today, version=plan.version, against=view, show_all=False)
    outcome = files.lint_files(plan.proposed, rules)
    if outcome.errors:
        raise UsageError(outcome.errors[0])
    for file in outcome.files:
        for told in file.told:
            # What addresses are worth is told of all that are new together (`_addresses`), and what files leave open is told of
            # the brokers themselves by the audit.
            one = told.finding
            answered = one.code in {"KA301", *_BY_ADDRESS} or (one.status is Status.UNKNOWN and one.code not in _OPEN_IN_FILES)
            if not one.muted and not answered:
                _sort(told.finding, f"proposed {file.path}", gate.severity_of(plan.strict), found)


def _sort(one: Finding, source: str, least: Severity, found: GateItems) -> None:
    item = GateItem(source=source, code=one.code, resource=one.resource.name, message=one.message, remedy=one.remediation)
    if one.status is Status.FAIL:
        into = (
            found.blockers if one.severity >= least else found.warnings if one.severity >= Severity.MEDIUM else found.information
        )
        into.append(item)
    elif one.status is Status.UNKNOWN:
        found.not_known.append(item)


def _addresses(view: ClusterView, plan: Plan, tried: ProposedListeners, today: date, found: GateItems) -> None:
    """Judge the addresses that brokers are to advertise: by themselves, beside all others, and by the walks to them."""
    for told in (
        *addresses.misplaced(tried.by_lines, view),
        *addresses.contradictions(tried.proposed),
        *reachability.reachability_items(tried.new, tried.probes, plan.vantages, tried.between),
    ):
        found.add(told)
    if not tried.new:
        return
    own, changed = {code: catalogue()[code] for code in _BY_ADDRESS}, {addresses.endpoint_resource(one) for one in tried.new}
    before = {(one.code, one.resource) for one in judge(view, own) if one.status is Status.FAIL}
    after = addresses.view_with_proposed(tried.new, tried.probes, view)
    failed = [one for one in judge(after, own) if one.status is Status.FAIL]
    caused = [one for one in failed if one.resource in changed or (one.code, one.resource) not in before]
    for finding in findings.findings_with_lifecycle(after, caused, mutes=(), previous_report=None, today=today):
        _sort(finding, addresses.SOURCE, gate.severity_of(plan.strict), found)


def _vantage(view: ClusterView, name: str, tried: ProposedListeners, found: GateItems) -> None:
    """Hold a vantage against every endpoint that it tried and that stays."""
    source = f"vantage {name}"
    walked = [row for row in view.newest(Probe) if row.vantage == name]
    if not walked and not any(row.vantage == name for row in tried.probes):
        remedy = f"To know: `vantages: {{{name}: …}}` in the cluster file, and a new snapshot"
        message = f"Cannot determine whether {name} reaches the brokers, because no probe started there"
        found.not_known.append(GateItem(source=source, code="KA301", resource="cluster", message=message, remedy=remedy))
    replaced = {(one.broker_id, one.listener) for one in tried.new}
    for resource, row in _worst(row for row in walked if (row.broker_id, row.listener) not in replaced):
        where = f"{clean(row.host)}:{row.port}"
        if row.outcome == "failed":
            message = f"{clean(name)} does not reach {where}: {row.layer}, {clean(row.error or 'failed')}"
            found.blockers.append(GateItem(source=source, code="KA301", resource=resource, message=message))
        elif row.outcome == "unknown":
            message = f"Cannot determine whether {clean(name)} reaches {where} ({row.layer}: {clean(row.error or 'not probed')})"
            item = GateItem(source=source, code="KA301", resource=resource, message=message, remedy=f"To know: {row.needs}")
            found.not_known.append(item)


def _worst(tried: Iterable[Probe]) -> list[tuple[str, Probe]]:
    order = ("ok", "unknown", "failed")
    worst: dict[str, Probe] = {}
    for row in tried:
        resource = f"broker/{row.broker_id}/listener/{row.listener}"
        if resource not in worst or order.index(row.outcome) > order.index(worst[resource].outcome):
            worst[resource] = row
    return sorted(worst.items())
