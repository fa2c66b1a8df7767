"""KA401."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.cluster_action import standings
from kafka_audit.checks.security.refusal_words import evidence_of
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Acl, AclHolder, BrokerConfig, BrokerProperty, BrokerView, LogLine, PropertyLogin


@check(
    code="KA401",
    severity=Severity.CRITICAL,
    needs=(BrokerConfig, BrokerView, Acl, AclHolder, BrokerProperty, PropertyLogin, LogLine),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} {refuses} {whom}: {principal} ({listener}) has no ClusterAction there ({why})",
        Status.PASS: "Broker {broker} lets the other brokers act: {why}",
        Status.UNKNOWN: "Cannot determine whether {who} lets the other brokers act ({error})",
        Status.NOT_APPLICABLE: "Any broker may act at broker {broker}: {reason}",
    },
)
def no_cluster_action(view: ClusterView) -> Iterator[Judgement]:
    """The user that brokers appear as has no ClusterAction at a broker.

    ## Why it matters
    The controller tells a broker everything by requests that need ClusterAction, and so do followers that fetch. A broker that
    refuses them is up, registered and useless: its port is open, its view empty. The controller does not try again.

    ## Fails when
    An authorizer is set, and by super.users and ACLs the principal of the inter-broker listener may not. PLAINTEXT makes
    everybody User:ANONYMOUS; SSL gives the certificate's subject by `ssl.principal.mapping.rules`, or ANONYMOUS where none is
    asked for; SASL the login, Kerberos by `sasl.kerberos.principal.to.local.rules`. HIGH where the broker's view is still filled.
    Or a log says so, the controller's or that of the broker's authorizer, newer than their starts, and the view shows it.

    Inferred: no ACL allows it, super.users is set but hidden, the broker's view is empty or stale in two samples, and nothing
    else fits. In KRaft the ISR shows it: no other broker is in the ISR of what that broker leads; suspected while rivals are
    open.

    ## Not known when
    super.users is hidden (DescribeConfigs always hides it) and nothing shows; the login or the ACLs were not read; the class of
    the authorizer or of principals is not Kafka's own.

    ## Passes only when
    super.users or an ACL allows every broker's principal, or the view is filled: then the broker accepted its controller.

    ## What to do
    See it: `grep CLUSTER_AUTHORIZATION_FAILED state-change.log` on the controller, `grep Denied kafka-authorizer.log` here.

    Best: inter-broker traffic on an authenticated listener (`inter.broker.listener.name`), its user in `super.users` of every
    broker; on broker {broker} that takes a restart. Else an ACL:
    `kafka-acls.sh --bootstrap-server <broker>:9092 --add --allow-principal {principal} --operation ClusterAction --cluster`. A
    broker with an empty view cannot take that request: ask another one, or, with ZooKeeper,
    `kafka-acls.sh --authorizer-properties zookeeper.connect=<zk>:2181 ...`. Then restart broker {broker}.

    Never `allow.everyone.if.no.acl.found`: it opens the cluster. So does ClusterAction for ANONYMOUS, to all who connect.

    ## References
    Kafka documentation, "Authorization and ACLs"; `kafka.security.authorizer.AclAuthorizer`.
    """
    between = view.inter_broker
    for one in standings(view):
        resource = f"broker/{one.broker}"
        told = view.judge("KA401", resource, one.status, evidence_of(between, one))
        if one.status is Status.FAIL:
            told = replace(told, confidence=one.confidence, severity=Severity.HIGH if one.accepted else None)
        yield told
    yield from no_brokers(view, "KA401")
