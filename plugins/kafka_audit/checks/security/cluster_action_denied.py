"""KA403."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.cluster_action import cluster_action_results
from kafka_audit.checks.security.refusal_evidence import result_evidence
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.authorization import CLUSTER, acl_phrase
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Acl


@check(
    code="KA403",
    severity=Severity.CRITICAL,
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} {refuses} requests of {whom}: an ACL denies ClusterAction to {principal} ({why})",
        Status.PASS: "No ACL denies ClusterAction to the other brokers at broker {broker}: {why}",
        Status.UNKNOWN: "Cannot determine whether an ACL denies ClusterAction to the other brokers at {who} ({error})",
        Status.NOT_APPLICABLE: "Broker {broker} does not use ACLs: {reason}",
    },
)
def cluster_action_denied(view: ClusterView) -> Iterator[Judgement]:
    """An ACL denies ClusterAction to the inter-broker principal.

    ## Why it matters
    A DENY takes precedence over every ALLOW. A DENY for `User:*` that is intended for clients also rejects the controller and
    the followers.

    ## Fails when
    A DENY of ClusterAction or All on the cluster matches the inter-broker principal, which is not a super user. HIGH if the
    broker's view is not empty. Inferred: super.users is hidden, and the broker's view is empty or stale in two samples.

    ## Not known when
    Such a DENY exists, and the principal or super.users is unknown. Or the ACLs were not read.

    ## Passes only when
    No such DENY exists, or it does not match, or the broker has accepted the requests of its controller.

    ## What to do
    To see the ACL, run `kafka-acls.sh --bootstrap-server BROKER:9092 --list --cluster`.

    Remove it at a broker whose view is not empty, or use `--authorizer-properties zookeeper.connect=ZOOKEEPER:2181` instead of
    the address: `kafka-acls.sh --bootstrap-server BROKER:9092 --remove --deny-principal AS_LISTED --operation AS_LISTED
    --cluster`. Another ALLOW does not help. An entry in `super.users` helps and requires a restart of broker {broker}.

    ## References
    Kafka documentation, "Authorization and ACLs": DENY takes precedence.
    """
    between = view.inter_broker
    for result in cluster_action_results(view):
        acls, resource, evidence = (
            between.acls(result.broker),
            f"broker/{result.broker}",
            result_evidence(between, result),
        )
        denials = [a for a in acls or () if _denies(a)]
        if result.status is Status.NOT_APPLICABLE or acls is None or not between.authorizer(result.broker).value:
            status = result.status if result.status is Status.NOT_APPLICABLE else Status.UNKNOWN
            missing = {"error": "its ACLs were not read", "needs": "Describe on Cluster, or read on /kafka-acl"}
            yield view.judge("KA403", resource, status, evidence if result.error or result.reason else evidence | missing)
        elif not denials:
            yield view.judge("KA403", resource, Status.PASS, evidence | {"why": "no ACL denies ClusterAction"})
        elif result.status is Status.FAIL and any(pair.acl in denials for pair in result.pairs):
            severity = Severity.HIGH if result.accepted else None
            failed = view.judge("KA403", resource, Status.FAIL, evidence)
            yield replace(failed, confidence=result.confidence, severity=severity)
        elif result.status is Status.UNKNOWN:
            yield view.judge("KA403", resource, Status.UNKNOWN, evidence)
        else:
            why = evidence["why"] if result.status is Status.PASS else f"{acl_phrase(denials[0])} does not match"
            yield view.judge("KA403", resource, Status.PASS, evidence | {"why": why})
    yield from no_brokers(view, "KA403")


def _denies(acl: Acl) -> bool:
    return acl.resource_type == CLUSTER[0] and acl.permission == "DENY" and acl.operation in {"ClusterAction", "All"}
