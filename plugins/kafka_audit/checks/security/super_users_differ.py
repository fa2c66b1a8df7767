"""KA402."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.super_user_sets import KEY, aside, difference, unread, usual_set
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty
from kafka_audit.model.text import brokers


@check(
    code="KA402",
    severity=Severity.HIGH,
    needs=(BrokerConfig, BrokerProperty),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} has other super users than {others}: {fault}",
        Status.PASS: "Broker {broker} has the super users of others ({count})",
        Status.UNKNOWN: "Cannot determine whether {who} has the super users of the others ({error})",
        Status.NOT_APPLICABLE: "No super users to compare at {who}: {reason}",
    },
)
def super_users_differ(view: ClusterView) -> Iterator[Judgement]:
    """Brokers differ in their super users.

    ## Why it matters
    A request is judged by the broker that gets it. Whoever is a super user on some brokers only works until a leader, or the
    controller, moves: an administrator locked out in the middle of an outage, or the brokers' own user, and then replication
    stops (KA401). One too many is a door that the others keep shut.

    ## Fails when
    The principals in `super.users` are not those of most brokers with an authorizer. Order, blanks and repetition do not count.

    ## Not known when
    The key is set, and hidden, as DescribeConfigs always hides it; or nothing of the broker was read, or of no other one.

    ## Passes only when
    The sets are equal, by server.properties, or by DescribeConfigs where it leaves the key out: then there are none. It does
    not apply to a broker without an authorizer, nor to a single broker.

    ## What to do
    Agree on one list, with the user that brokers log in as. Write it into server.properties of broker {broker} ({fault}) and
    restart that broker; `super.users` is not dynamic. Before it restarts, see that the brokers' user is in the new list.

    ## References
    KIP-11 (authorizers); Kafka documentation, "Authorization and ACLs".
    """
    between = view.inter_broker
    told = {broker: between.super_users(broker) for broker in between.brokers if between.authorizer(broker).value}
    known = {broker: users for broker, users in told.items() if users is not None}
    usual = usual_set(known)
    others = [broker for broker, users in known.items() if users == usual]
    for broker in between.brokers:
        users = known.get(broker)
        if reason := aside(between, broker):
            yield view.judge("KA402", f"broker/{broker}", Status.NOT_APPLICABLE, who=f"broker {broker}", reason=reason)
        elif users is None or len(known) == 1:
            yield unread(view, broker, hidden=broker in told and users is None)
        else:
            fault = difference(usual - users, users - usual)
            words = {"broker": broker, "key": KEY, "others": brokers(others), "fault": fault, "count": len(users)}
            words |= {"lacks": tuple(sorted(usual - users)), "more": tuple(sorted(users - usual))}
            yield view.judge("KA402", f"broker/{broker}", Status.FAIL if fault else Status.PASS, words)
    yield from no_brokers(view, "KA402")
