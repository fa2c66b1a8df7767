"""KA402."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.super_user_sets import KEY, aside, difference, unread_super_users, usual_set
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, RegisteredBroker
from kafka_audit.model.text import brokers


@check(
    code="KA402",
    severity=Severity.HIGH,
    needs=(BrokerConfig, BrokerProperty, RegisteredBroker),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} has different super users than {others}: {fault}",
        Status.PASS: "Broker {broker} has the same super users as the others ({count})",
        Status.UNKNOWN: "Cannot determine whether {who} has the same super users as the others ({error})",
        Status.NOT_APPLICABLE: "No super users to compare at {who}: {reason}",
    },
)
def super_users_differ(view: ClusterView) -> Iterator[Judgement]:
    """Brokers have different super users.

    ## Why it matters
    Each request is authorized by the broker that receives it. A principal that is a super user only on some brokers works until
    a leader or the controller moves. Then an administrator is denied during an outage or, if it is the inter-broker principal,
    replication stops (KA401). An extra super user has rights that the other brokers deny.

    ## Fails when
    The principals in `super.users` differ from those of most brokers with an authorizer. Order, blanks and duplicates do not
    count.

    ## Not known when
    The key is set but hidden, because DescribeConfigs always hides it. Or no settings of this broker, or of any other broker,
    were read.

    ## Passes only when
    The sets are equal, by server.properties, or by DescribeConfigs if it does not return the key: then there are none. The
    check does not apply to a broker without an authorizer, and not to a single broker.

    ## What to do
    Define one list, which includes the inter-broker principal. Set it in server.properties of broker {broker} ({fault}) and
    restart that broker; `super.users` is not dynamic. Before the restart, make sure that the inter-broker principal is in the
    new list.

    ## References
    KIP-11 (authorizers); Kafka documentation, "Authorization and ACLs".
    """
    between = view.inter_broker
    reported = {broker: between.super_users(broker) for broker in between.brokers if between.authorizer(broker).value}
    known = {broker: users for broker, users in reported.items() if users is not None}
    usual = usual_set(known)
    others = [broker for broker, users in known.items() if users == usual]
    for broker in between.brokers:
        users = known.get(broker)
        if reason := aside(between, broker):
            yield view.judge("KA402", f"broker/{broker}", Status.NOT_APPLICABLE, who=f"broker {broker}", reason=reason)
        elif users is None or len(known) == 1:
            yield unread_super_users(view, broker, hidden=broker in reported and users is None)
        else:
            fault = difference(usual - users, users - usual)
            evidence = {"broker": broker, "key": KEY, "others": brokers(others), "fault": fault, "count": len(users)}
            evidence |= {
                "other_brokers": tuple(sorted(others)),
                "lacks": tuple(sorted(usual - users)),
                "more": tuple(sorted(users - usual)),
            }
            yield view.judge("KA402", f"broker/{broker}", Status.FAIL if fault else Status.PASS, evidence)
    yield from no_brokers(view, "KA402")
