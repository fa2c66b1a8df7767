"""What became of a planned change of the quorum: what changed, what was not done, and what the new snapshot does not show."""

from collections.abc import Iterator, Sequence

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import address_text, same_address
from kafka_audit.migration.plan import Kind, Plan
from kafka_audit.migration.quorum.controller_certificates import certificate_text, controller_certificates
from kafka_audit.migration.quorum.facts import QuorumFacts
from kafka_audit.migration.quorum.preconditions import FILE_NEEDS
from kafka_audit.model.addresses.voters import VOTERS, named_voters
from kafka_audit.model.report import ReportedChange
from kafka_audit.model.tables import RegisteredEndpoint
from kafka_audit.model.text import clean, listing

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
