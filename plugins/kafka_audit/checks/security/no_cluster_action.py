from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.cluster_action import cluster_action_results, result_evidence


@check(code="KA401", severity=Severity.CRITICAL, by_files=True)
def no_cluster_action(view: ClusterView) -> Judgements:
    """The inter-broker principal has no ClusterAction right at a broker."""
    between = view.inter_broker
    for result in cluster_action_results(view):
        judgement = view.judge(f"broker/{result.broker}", result.status, result_evidence(between, result))
        if result.status is Status.FAIL:
            judgement = replace(judgement, confidence=result.confidence, severity=result.severity)
        yield judgement
    yield from no_brokers(view)
