from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.cluster_action import cluster_action_results, result_evidence
from kafka_audit.configuration.authorization import CLUSTER, acl_phrase
from kafka_audit.model.tables import Acl


@check(code="KA403", severity=Severity.CRITICAL, by_files=True)
def cluster_action_denied(view: ClusterView) -> Judgements:
    """An ACL denies ClusterAction to the inter-broker principal."""
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
            yield view.judge(resource, status, evidence if result.error or result.reason else evidence | missing)
        elif not denials:
            yield view.judge(resource, Status.PASS, evidence | {"why": "no ACL denies ClusterAction"})
        elif result.status is Status.FAIL and any(pair.acl in denials for pair in result.pairs):
            failed = view.judge(resource, Status.FAIL, evidence)
            yield replace(failed, confidence=result.confidence, severity=result.severity)
        elif result.status is Status.UNKNOWN:
            yield view.judge(resource, Status.UNKNOWN, evidence)
        else:
            why = evidence["why"] if result.status is Status.PASS else f"{acl_phrase(denials[0])} does not match"
            yield view.judge(resource, Status.PASS, evidence | {"why": why})
    yield from no_brokers(view)


def _denies(acl: Acl) -> bool:
    return acl.resource_type == CLUSTER[0] and acl.permission == "DENY" and acl.operation in {"ClusterAction", "All"}
