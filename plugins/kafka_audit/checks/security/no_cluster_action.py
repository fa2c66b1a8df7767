"""KA401."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.cluster_action import cluster_action_results
from kafka_audit.checks.security.refusal_evidence import result_evidence
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA401",
    severity=Severity.CRITICAL,
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} {refuses} requests of {whom}: {principal} ({listener}) has no ClusterAction there ({why})",
        Status.PASS: "Broker {broker} authorizes the other brokers: {why}",
        Status.UNKNOWN: "Cannot determine whether {who} authorizes the other brokers ({error})",
        Status.NOT_APPLICABLE: "Broker {broker} authorizes every broker: {reason}",
    },
)
def no_cluster_action(view: ClusterView) -> Iterator[Judgement]:
    """The inter-broker principal has no ClusterAction right at a broker.

    ## Why it matters
    Requests of the controller and of followers require ClusterAction. A broker that rejects them is up and registered but
    unusable: its port is open, its view is empty. Refused updates are not retried; a restart is required. Transaction markers and
    requests that other brokers forward require ClusterAction, too.

    ## Fails when
    The broker has an authorizer, and super.users and ACLs do not authorize the inter-broker principal. The principal is
    User:ANONYMOUS on a PLAINTEXT listener. On SSL it is derived from the certificate's subject by
    `ssl.principal.mapping.rules`, or is ANONYMOUS if no client certificate is requested. On SASL it is the user name; for
    Kerberos it is derived by `sasl.kerberos.principal.to.local.rules`. HIGH if the broker's view is not empty. The check also
    fails if the controller's log, or server.log or the authorizer log of the broker, reports the rejection, newer than their
    starts, and the view shows it.

    Inferred: no ACL allows it, super.users is set but hidden, the broker's view is empty or stale in two samples, and each other
    known cause is ruled out. In KRaft the ISR shows it: followers are in no ISR of that broker's partitions. Suspected while
    others are not ruled out, and no other broker with the same settings accepts them.

    ## Not known when
    super.users is hidden (DescribeConfigs always hides it) and there is no symptom. Or the login or the ACLs were not read. Or
    the class of the authorizer or of the principal builder is not Kafka's own. `lint` reads no ACLs, so it does not know the
    result if `allow.everyone.if.no.acl.found` is true.

    ## Passes only when
    super.users or an ACL authorizes every broker's principal, or the view is not empty: then the broker accepted its
    controller.

    ## What to do
    To see the error, run `grep 'Received error' state-change.log` on the controller, and on this broker `grep -A1 'handling
    request' server.log`: `Error when handling request` (Kafka 1.x and 2.x) or `Unexpected error handling request` (3.x and later)
    names principal and listener. Many distributions write no kafka-authorizer.log.

    Best: use an authenticated listener for inter-broker traffic (`inter.broker.listener.name`), with its principal in
    `super.users` of every broker. On broker {broker} this requires a restart. Otherwise add an ACL: `kafka-acls.sh
    --bootstrap-server BROKER:9092 --add --allow-principal {principal} --operation ClusterAction --cluster`. A broker with an
    empty view cannot process this request: use another broker or, with ZooKeeper, `kafka-acls.sh --authorizer-properties
    zookeeper.connect=ZOOKEEPER:2181`. Then restart broker {broker}.

    Never set `allow.everyone.if.no.acl.found`: it opens the cluster. ClusterAction for ANONYMOUS opens it to every client that
    can connect.

    ## References
    Kafka documentation, "Authorization and ACLs"; `kafka.security.authorizer.AclAuthorizer`.
    """
    between = view.inter_broker
    for result in cluster_action_results(view):
        resource = f"broker/{result.broker}"
        judgement = view.judge("KA401", resource, result.status, result_evidence(between, result))
        if result.status is Status.FAIL:
            judgement = replace(judgement, confidence=result.confidence, severity=Severity.HIGH if result.accepted else None)
        yield judgement
    yield from no_brokers(view, "KA401")
