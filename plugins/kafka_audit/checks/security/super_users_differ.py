"""KA402."""

from collections.abc import Iterator, Sequence

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.super_user_sets import KEY, aside, difference, unread_super_users, usual_set
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, ControllerConfig, RegisteredBroker
from kafka_audit.model.text import named_nodes, start_upper


@check(
    code="KA402",
    severity=Severity.HIGH,
    needs=(BrokerConfig, ControllerConfig, BrokerProperty, RegisteredBroker),
    by_files=True,
    says={
        Status.FAIL: "{subject} has different super users than {others}: {fault}",
        Status.PASS: "{subject} has the same super users as the others ({count})",
        Status.UNKNOWN: "Cannot determine whether {who} has the same super users as the others ({error})",
        Status.NOT_APPLICABLE: "No super users to compare at {who}: {reason}",
    },
)
def super_users_differ(view: ClusterView) -> Iterator[Judgement]:
    """Brokers, or controllers, have different super users.

    ## Why it matters
    Each request is authorized by the broker that receives it. A principal that is a super user only on some brokers works until
    a leader or the controller moves. Then an administrator is denied during an outage or, if it is the inter-broker principal,
    replication stops (KA401). An extra super user has rights that the other brokers deny.

    ## Fails when
    The principals in `super.users` differ from those of most brokers with an authorizer. Order, blanks and duplicates do not
    count. Controllers that are no brokers are compared with each other, by their files: the next leader decides by its own.
    Principals of the controllers' listener need to be super users there only.

    ## Not known when
    The key is set but hidden, because DescribeConfigs always hides it. Or no settings of this broker, or of any other broker,
    were read.

    ## Passes only when
    The sets are equal, by server.properties, or by DescribeConfigs if it does not return the key: then there are none. The
    check does not apply to a node without an authorizer, and not to a single one.

    ## What to do
    Define one list, which includes the inter-broker principal, on controllers that of the controllers' listener. Set it in
    server.properties of {who} ({fault}) and restart it; `super.users` is not dynamic. Before the restart, make sure that the
    inter-broker principal is in the new list.

    ## References
    KIP-11 (authorizers); Kafka documentation, "Authorization and ACLs".
    """
    between = view.inter_broker
    yield from _alike(view, between.brokers)
    yield from _alike(view, sorted(between.settings.controllers))
    yield from no_brokers(view, "KA402")


def _alike(view: ClusterView, nodes: Sequence[int]) -> Iterator[Judgement]:
    """Compare nodes that have the same super users, where they are alike: brokers, or controllers."""
    between = view.inter_broker
    reported = {node: between.super_users(node) for node in nodes if between.authorizer(node).value}
    known = {node: users for node, users in reported.items() if users is not None}
    usual = usual_set(known)
    others = [node for node, users in known.items() if users == usual]
    for node in nodes:
        users, party = known.get(node), between.settings.party(node)
        resource, (kind, _, _) = party.replace(" ", "/"), party.partition(" ")
        if reason := aside(between, node):
            yield view.judge("KA402", resource, Status.NOT_APPLICABLE, who=party, reason=reason)
        elif users is None or len(known) == 1:
            yield unread_super_users(view, node, hidden=node in reported and users is None)
        else:
            fault = difference(usual - users, users - usual)
            evidence: dict[str, object] = {"node": node, "who": party, "subject": start_upper(party), "key": KEY}
            evidence |= {"others": named_nodes(kind, others), "fault": fault, "count": len(users)}
            evidence |= {f"other_{kind}s": tuple(sorted(others)), "lacks": tuple(sorted(usual - users))}
            evidence["more"] = tuple(sorted(users - usual))
            yield view.judge("KA402", resource, Status.FAIL if fault else Status.PASS, evidence)
