"""KA403."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.cluster_action import standings
from kafka_audit.checks.security.refusal_words import evidence_of
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.authorization import CLUSTER, told
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Acl, AclHolder, BrokerConfig, BrokerProperty, BrokerView, PropertyLogin


@check(
    code="KA403",
    severity=Severity.CRITICAL,
    needs=(BrokerConfig, BrokerView, Acl, AclHolder, BrokerProperty, PropertyLogin),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} {refuses} {whom}: an ACL denies {principal} ClusterAction there ({why})",
        Status.PASS: "No ACL keeps the other brokers from acting at broker {broker}: {why}",
        Status.UNKNOWN: "Cannot determine whether an ACL keeps the other brokers from acting at {who} ({error})",
        Status.NOT_APPLICABLE: "ACLs mean nothing to broker {broker}: {reason}",
    },
)
def cluster_action_denied(view: ClusterView) -> Iterator[Judgement]:
    """An ACL denies ClusterAction to the user that brokers appear as.

    ## Why it matters
    A DENY wins over every ALLOW. One for `User:*`, meant for clients, stops controller and followers too.

    ## Fails when
    A DENY of ClusterAction or All on the cluster matches the inter-broker principal, which is no super user. HIGH where the
    broker's view is still filled. Inferred: super.users is hidden, and the broker's view is empty or stale in two samples.

    ## Not known when
    Such a DENY is there, and the principal or super.users is not known, or the ACLs were not read.

    ## Passes only when
    No such DENY is there, or it does not match, or the broker accepted its controller all the same.

    ## What to do
    See it: `kafka-acls.sh --bootstrap-server <broker>:9092 --list --cluster`.

    Remove it at a broker whose view is filled, or with `--authorizer-properties zookeeper.connect=<zk>:2181` for the address:
    `kafka-acls.sh --bootstrap-server <broker>:9092 --remove --deny-principal <as listed> --operation <as listed> --cluster`.

    Another ALLOW does not help. To be in `super.users` does, and takes a restart of broker {broker}.

    ## References
    Kafka documentation, "Authorization and ACLs": DENY takes precedence.
    """
    between = view.inter_broker
    for one in standings(view):
        acls, resource, words = between.acls(one.broker), f"broker/{one.broker}", evidence_of(between, one)
        denials = [a for a in acls or () if _denies(a)]
        if one.status is Status.NOT_APPLICABLE or acls is None or not between.authorizer(one.broker).value:
            status = one.status if one.status is Status.NOT_APPLICABLE else Status.UNKNOWN
            missing = {"error": "its ACLs were not read", "needs": "Describe on Cluster, or read on /kafka-acl"}
            yield view.judge("KA403", resource, status, words if one.error or one.reason else words | missing)
        elif not denials:
            yield view.judge("KA403", resource, Status.PASS, words | {"why": "none denies ClusterAction"})
        elif one.status is Status.FAIL and any(pair.acl in denials for pair in one.pairs):
            severity = Severity.HIGH if one.accepted else None
            failed = view.judge("KA403", resource, Status.FAIL, words)
            yield replace(failed, confidence=one.confidence, severity=severity)
        elif one.status is Status.UNKNOWN:
            yield view.judge("KA403", resource, Status.UNKNOWN, words)
        else:
            why = words["why"] if one.status is Status.PASS else f"{told(denials[0])} does not match"
            yield view.judge("KA403", resource, Status.PASS, words | {"why": why})
    yield from no_brokers(view, "KA403")


def _denies(acl: Acl) -> bool:
    return acl.resource_type == CLUSTER[0] and acl.permission == "DENY" and acl.operation in {"ClusterAction", "All"}
