"""KA408."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty


@check(
    code="KA408",
    severity=Severity.HIGH,
    needs=(BrokerConfig, BrokerProperty),
    by_files=True,
    says={
        Status.FAIL: "Anybody may use what no ACL is about at broker {broker}: allow.everyone.if.no.acl.found is true",
        Status.PASS: "Broker {broker} refuses what no ACL allows ({source})",
        Status.UNKNOWN: "Cannot determine whether anybody may use what no ACL is about at {who} ({error})",
        Status.NOT_APPLICABLE: "No ACLs are asked at broker {broker}: {reason}",
    },
)
def open_without_acl(view: ClusterView) -> Iterator[Judgement]:
    """A broker lets anybody use what no ACL is about.

    ## Why it matters
    A new topic is open to everybody until its first ACL, and closed to everybody else from that moment on: both surprise. While
    no ACL is about the cluster, anybody may act as a broker.

    ## Fails when
    An authorizer is set, and `allow.everyone.if.no.acl.found` is true by server.properties.

    ## Not known when
    The key is set but hidden, as DescribeConfigs always hides it; or nothing was read of that broker.

    ## Passes only when
    It is false by server.properties, or DescribeConfigs leaves it out, which says that the default (false) holds.

    ## What to do
    Before you set it to false, write down who uses what. `kafka-authorizer.log` at INFO names denials only; allowed requests are
    logged at DEBUG, with the principal, the operation and the resource. Set `kafka.authorizer.logger` to DEBUG on every broker
    for as long as the rarest job needs to run once: in its log4j file, or until its restart (Kafka 2.4 and later) by
    `kafka-configs.sh --bootstrap-server <broker>:9092 --alter --entity-type broker-loggers --entity-name {broker} --add-config
    kafka.authorizer.logger=DEBUG`. The log grows with every request.

    Add the ACLs that it shows, and see that the brokers' own principal is in `super.users` or has ClusterAction (KA401). Then set
    the key to false on broker {broker} and restart it: from then on a client without an ACL is locked out.

    ## References
    Kafka documentation, "Authorization and ACLs".
    """
    between = view.inter_broker
    for broker in between.brokers:
        resource, authorizer = f"broker/{broker}", between.authorizer(broker)
        allows = between.allows_without_acl(broker)
        evidence = {"broker": broker, "who": f"broker {broker}", "key": "allow.everyone.if.no.acl.found"}
        if authorizer.state == "unset":
            yield view.judge("KA408", resource, Status.NOT_APPLICABLE, evidence, reason="it runs no authorizer")
        elif not authorizer.value or allows is None:
            error = "the key is set but hidden" if authorizer.value else "its settings were not read"
            needs = f"server.properties of broker {broker} (`properties` in the cluster file)"
            yield view.judge("KA408", resource, Status.UNKNOWN, evidence, error=error, needs=needs)
        else:
            source = between.settings.get(broker, "allow.everyone.if.no.acl.found").source
            yield view.judge("KA408", resource, Status.FAIL if allows else Status.PASS, evidence, source=source)
    yield from no_brokers(view, "KA408")
