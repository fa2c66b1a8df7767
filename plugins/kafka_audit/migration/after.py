"""What changed since the baseline: what was meant to, what was not, and what was meant to and did not; also of the quorum."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from kafka_audit.cluster.releases import minor_releases
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import address_text, canonical_address, same_address
from kafka_audit.migration import addresses
from kafka_audit.migration.plan import OF_QUORUM, TITLES, Kind, Plan
from kafka_audit.migration.predictions import NOT_HELD, outcomes
from kafka_audit.migration.quorum.controller_certificates import certificate_text, controller_certificates
from kafka_audit.migration.quorum.facts import FILE_NEEDS, QuorumFacts
from kafka_audit.model.addresses.voters import VOTERS, named_voters
from kafka_audit.model.finding import Lifecycle, Resource, Severity, Status
from kafka_audit.model.report import Report, ReportedChange, ReportedFinding, report_json
from kafka_audit.model.tables import RegisteredEndpoint, Snapshot, SnapshotInfo
from kafka_audit.model.text import clean, counted, listing
from kafka_audit.report import gate
from kafka_audit.report.verdicts import AS_EXPECTED, NOT_AS_EXPECTED, NOT_DECIDED

PlanOutcome = str | dict[str, str]
"""A sentence about what was not done, or a line about what is not known."""


def quorum_differences(before: ClusterView, after: ClusterView) -> Iterator[ReportedChange]:
    """Yield how the quorum differs: its voters, and whether they are in the metadata log. Nothing where either was not read."""
    was, now = QuorumFacts(before), QuorumFacts(after)
    if was.leader is None or now.leader is None:
        return
    pairs = (
        ("quorum_voters", listing(was.voters, 50), listing(now.voters, 50)),
        ("kraft_version", _kraft_version(was), _kraft_version(now)),
    )
    for kind, old, new in pairs:
        if old != new:
            yield ReportedChange(kind=kind, resource="cluster", before=old, after=new)


def _kraft_version(facts: QuorumFacts) -> str:
    return "1 (dynamic quorum)" if facts.is_dynamic else "0 (static quorum)"


def certificate_differences(before: ClusterView, after: ClusterView) -> Iterator[ReportedChange]:
    """Yield addresses of controllers that show another certificate."""
    was, now = _shown(before), _shown(after)
    for address in sorted(was.keys() & now.keys()):
        if was[address] != now[address]:
            yield ReportedChange(kind="certificate", resource="cluster", before=was[address], after=now[address])


def _shown(view: ClusterView) -> dict[str, str]:
    return {address_text(row.host, row.port): certificate_text(row) for row in controller_certificates(QuorumFacts(view))}


def quorum_outcomes(
    plan: Plan, before: ClusterView, after: ClusterView, proposed: Sequence[RegisteredEndpoint]
) -> list[PlanOutcome]:
    """Return a sentence for each part of the plan that was not done, and a line for each that is not known."""
    facts = QuorumFacts(after)
    if plan.kind is Kind.CONTROLLER_CERTIFICATES:
        return [*_certificates(before, after)]
    if facts.leader is None:
        error, needs = after.quorum.unread()
        return [_unknown("KA209", "cluster", f"Cannot determine whether the quorum is as planned ({error})", f"Needed: {needs}")]
    if plan.kind is Kind.DYNAMIC_QUORUM:
        return [*_dynamic(facts)]
    if plan.kind is Kind.QUORUM_VOTERS:
        missing = facts.voters.keys() != {*plan.node_ids}
        return [f"The voters are {listing(facts.voters)}, not {listing(sorted(plan.node_ids))} as planned."] if missing else []
    return [*_hosts(facts, proposed)]


def _unknown(code: str, resource: str, message: str, remedy: str) -> dict[str, str]:
    return {"code": code, "resource": resource, "severity": "HIGH", "message": message, "remedy": remedy}


def _file_unknown(facts: QuorumFacts, node: int, what: str) -> dict[str, str]:
    kind = "broker" if node in facts.brokers else "controller"
    message = f"Cannot determine {what} of {kind} {node}: its file was not read"
    return _unknown("KA213", f"{kind}/{node}", message, FILE_NEEDS.format(node=node))


def _dynamic(facts: QuorumFacts) -> Iterator[PlanOutcome]:
    if not facts.is_dynamic:
        yield "kraft.version is 0: the quorum is static."
    for node in facts.nodes:
        if not facts.is_read(node):
            yield _file_unknown(facts, node, VOTERS)
        elif facts.value(node, VOTERS):
            yield f"Node {node} has {VOTERS} in its file."


def _hosts(facts: QuorumFacts, proposed: Sequence[RegisteredEndpoint]) -> Iterator[PlanOutcome]:
    for endpoint in proposed:
        node, meant = endpoint.broker_id, (endpoint.host, endpoint.port)
        if endpoint.listener not in (facts.listeners(node) or (endpoint.listener,)):
            continue  # of a broker, by a proposed file
        shown = clean(address_text(*meant))
        if facts.is_dynamic:
            if node not in facts.endpoints:
                message = f"Cannot determine where the quorum reaches controller {node}"
                needs = "Needed: DescribeQuorum version 2 (Kafka 3.9), and that it is a voter"
                yield _unknown("KA213", f"controller/{node}", message, needs)
            elif not same_address(facts.endpoints[node], meant):
                yield f"The quorum reaches controller {node} at {clean(address_text(*facts.endpoints[node]))}, not at {shown}."
            continue
        for user in facts.nodes:
            named = named_voters(facts.value(user, VOTERS)).get(node)
            if not facts.is_read(user):
                yield _file_unknown(facts, user, f"the address of controller {node} in the file")
            elif named is None or not same_address(named, meant):
                yield f"Node {user} does not name controller {node} at {shown}."


def _certificates(before: ClusterView, after: ClusterView) -> Iterator[PlanOutcome]:
    was, now = _shown(before), _shown(after)
    for address in sorted(was.keys() & now.keys()):
        if was[address] == now[address]:
            yield f"{clean(address)} shows the same certificate as before."
    unseen = sorted(was.keys() - now.keys())
    if unseen or not now:
        message = f"Cannot determine which certificate {listing(unseen) or 'the controllers'} show"
        needs = "Needed: all addresses of controllers in the cluster file (`controllers`), before and after the change"
        yield _unknown("KA412", "cluster", message, needs)


_ALWAYS = frozenset({"leader_moved", "controller"})
"""What every restart brings along."""

_MEANT: Mapping[Kind, frozenset[str]] = {
    Kind.ZOOKEEPER_TO_KRAFT: frozenset({"mode"}),
    Kind.ROLLING_UPGRADE: frozenset({"version"}),
    Kind.LISTENERS: frozenset({"endpoint"}),
    Kind.EXPOSURE: frozenset({"endpoint"}),
    Kind.HOSTS: frozenset({"endpoint", "voter_address", "broker_came", "broker_went"}),
    Kind.DYNAMIC_QUORUM: frozenset({"kraft_version"}),
    Kind.QUORUM_VOTERS: frozenset({"quorum_voters"}),
    Kind.CONTROLLER_HOSTS: frozenset({"voter_address"}),
    Kind.CONTROLLER_CERTIFICATES: frozenset({"certificate"}),
}
_ADDRESSES = ("listeners", "advertised.", "listener.", "inter.broker.listener", "control.plane.listener")
_SECURITY = ("security.", "sasl.", "ssl.", "authorizer.", "super.users", "principal.", "allow.everyone")
_KRAFT = (
    "process.roles", "node.id", "broker.id", "controller.", "zookeeper.", "metadata.", "authorizer.", "inter.broker.protocol",
    "control.plane.", "early.start.listeners", "listeners", "listener.security.protocol.map",
)  # fmt: skip
_KEYS: Mapping[Kind, tuple[str, ...]] = {
    Kind.ZOOKEEPER_TO_KRAFT: _KRAFT,
    Kind.ROLLING_UPGRADE: ("inter.broker.protocol.version", "log.message.format.version"),
    Kind.LISTENERS: (*_ADDRESSES, *_SECURITY),
    Kind.EXPOSURE: _ADDRESSES,
    Kind.HOSTS: (*_ADDRESSES, "log.dir", "broker.rack"),
    Kind.DYNAMIC_QUORUM: ("controller.quorum.",),
    Kind.QUORUM_VOTERS: ("controller.quorum.",),
    Kind.CONTROLLER_HOSTS: ("controller.quorum.", "listeners", "advertised.listeners"),
    Kind.CONTROLLER_CERTIFICATES: ("ssl.", "listener.name.", "super.users"),
}
"""Settings that a kind of change means to change, by how their names begin."""


def report_after_change(
    document: Report, before: Snapshot, after: Snapshot, baseline: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """Return the report after a change.

    Args:
        document: the audit's report on `after`, compared with `before`.
        before: the baseline.
        after: the cluster as it is now.
        baseline: the gate's report, as it was kept: what was to be done.
        now: with a time zone.
    """
    plan = Plan.from_dict(baseline["plan"])
    proposed = tuple(RegisteredEndpoint(**entry) for entry in baseline.get("advertised", ()))
    was, is_now = ClusterView.of_files(before), ClusterView.of_files(after)
    changes = [*_modes(before, after), *quorum_differences(was, is_now), *document.changes]
    if plan.kind is Kind.CONTROLLER_CERTIFICATES:
        changes += certificate_differences(was, is_now)
    if plan.kind in OF_QUORUM:
        of_quorum = quorum_outcomes(plan, was, is_now, proposed)
        not_advertised = [outcome for outcome in of_quorum if isinstance(outcome, str)]
        untold = [outcome for outcome in of_quorum if not isinstance(outcome, str)]
    else:
        not_advertised, untold = addresses.afterwards(proposed, is_now)
    meant = [change for change in changes if _is_meant(change, plan, proposed)]
    not_meant = [change for change in changes if not _is_meant(change, plan, proposed)]
    predicted = [*outcomes(baseline.get("predictions", ()), is_now, document)]
    not_done = [*_not_done(after, plan), *not_advertised, *_not_upgraded(predicted)]
    untold = [*untold, *_upgrade_unknown(predicted, is_now)]
    least = gate.severity_of(plan.strict)
    new = [
        finding for finding in document.findings if gate.fails_gate(finding, least) and finding.lifecycle is not Lifecycle.ONGOING
    ]
    lost = [
        finding
        for finding in document.findings
        if finding.lifecycle is Lifecycle.INCOMPARABLE and not finding.muted and Severity[finding.severity] >= least
    ]
    coverage = document.coverage
    wrong = bool(not_meant or not_done or new)
    complete = coverage.answered >= coverage.asked > 0 and not lost and not untold and not document.changes_omitted
    verdict = NOT_AS_EXPECTED if wrong else AS_EXPECTED if complete else NOT_DECIDED
    parts = [
        *([counted(len(new), "new failure")] if new else []),
        *([f"{counted(len(not_done), 'planned change')} missing"] if not_done else []),
        *([f"{counted(len(not_meant), 'unexpected change')}"] if not_meant else []),
        f"{counted(len(meant), 'expected change')}" if changes else "no changes",
    ]
    subject = f"{clean(document.cluster)}, {TITLES[plan.kind]}"
    return {
        "schema_version": 1,
        "cluster": document.cluster,
        "baseline": before.snapshot_id,
        "snapshot_id": after.snapshot_id,
        "compared_at": now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "plan": plan.as_dict(),
        "verdict": verdict,
        "subject": subject,
        "reason": ", ".join(parts),
        "headline": f"{verdict.upper()} for {subject}: {', '.join(parts)}",
        "coverage": {"asked": coverage.asked, "answered": coverage.answered},
        "meant": report_json(tuple(meant)),
        "not_meant": report_json(tuple(not_meant)),
        "not_done": not_done,
        "predictions": predicted,
        "new": [_brief(entry) for entry in new],
        "resolved": [_brief(finding) for finding in document.findings if finding.lifecycle is Lifecycle.RESOLVED],
        "not_known": [*(_brief(entry) for entry in lost), *untold],
    }


def _not_upgraded(predicted: Sequence[Mapping[str, str]]) -> Iterator[str]:
    for prediction in predicted:
        if (prediction["kind"], prediction["outcome"]) == ("release", NOT_HELD):
            broker = Resource.of(prediction["resource"]).broker
            yield f"Broker {broker} runs {prediction['seen']}, not {prediction['expected']} as planned."


def _upgrade_unknown(predicted: Sequence[Mapping[str, str]], view: ClusterView) -> Iterator[dict[str, str]]:
    """Yield brokers whose release nothing shows. That it is one of several neighbours is a prediction that is not known."""
    for prediction in predicted:
        broker = Resource.of(prediction["resource"]).broker
        if prediction["kind"] == "release" and broker is not None and minor_releases(view, broker) is None:
            message = f"Cannot determine whether this is so: {prediction['text']}"
            remedy = f"Needed: {prediction['seen']}"
            head = {"code": "KA912", "resource": prediction["resource"], "severity": "HIGH"}
            yield {**head, "message": message, "remedy": remedy}


def _brief(finding: ReportedFinding) -> dict[str, str]:
    return {
        "code": finding.code,
        "resource": finding.resource.name,
        "severity": finding.severity,
        "message": finding.message,
        "remedy": finding.remediation if finding.status is not Status.PASS else "",
    }


def _mode(snapshot: Snapshot) -> str:
    return next((info.mode for info in snapshot.of(SnapshotInfo)), "not known")


def _modes(before: Snapshot, after: Snapshot) -> Iterator[ReportedChange]:
    if _mode(before) != _mode(after):
        yield ReportedChange(kind="mode", resource="cluster", before=_mode(before), after=_mode(after))


def _place(change: ReportedChange) -> tuple[int | None, str, int]:
    """Return an endpoint as it is now, as `addresses.comparable_address` does."""
    address = change.addresses_after[0]
    return Resource.of(change.resource).broker, *canonical_address(address.host, address.port)


def _is_meant(change: ReportedChange, plan: Plan, proposed: Sequence[RegisteredEndpoint]) -> bool:
    kind = change.kind
    if kind == "endpoint" and proposed and change.after is not None:
        return _place(change) in {addresses.comparable_address(endpoint) for endpoint in proposed}
    if kind == "config":
        return (Resource.of(change.resource).key or "").startswith(_KEYS[plan.kind])
    return kind in _ALWAYS or kind in _MEANT[plan.kind]


def _not_done(after: Snapshot, plan: Plan) -> Iterator[str]:
    if plan.kind is Kind.ZOOKEEPER_TO_KRAFT and _mode(after) != "kraft":
        way_out = "Remove `zookeeper` from the cluster file after the migration"
        yield f"The migration is not complete: the mode of this audit is {_mode(after)}. {way_out}."
