from collections.abc import Sequence
from dataclasses import replace

from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.cluster_action import ClusterActionResult, cluster_action_results
from kafka_audit.cluster.listeners.principals import Principal
from kafka_audit.configuration.authorization import SUPER_USERS
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.configuration.principals.ssl_rules import KEY
from kafka_audit.faults.facts import facts_of

_Verdict = tuple[Status, Confidence, dict[str, str]]


@check(code="KA404", severity=Severity.CRITICAL, by_files=True)
def ssl_principal_refused(view: ClusterView) -> Judgements:
    """The principal that a broker derives from the other brokers' certificates has no rights there, or none can be derived."""
    for result in cluster_action_results(view):
        status, confidence, reported = _verdict(view, result)
        evidence = {"broker": result.broker, "who": f"broker {result.broker}", "key": KEY, **reported}
        judged = view.judge(f"broker/{result.broker}", status, evidence)
        latent = result.accepted is not None and status is Status.FAIL
        yield replace(judged, confidence=confidence, severity=Severity.HIGH if latent else judged.severity)
    yield from no_brokers(view)


def _verdict(view: ClusterView, result: ClusterActionResult) -> _Verdict:
    """Return status, confidence and evidence for one broker."""
    between = view.inter_broker
    used = between.listener(between.controller if between.controller is not None else result.broker) or between.listener(
        result.broker
    )
    if used is None or used.protocol is None:
        needs = f"DescribeConfigs on Cluster, or server.properties of broker {result.broker}"
        return Status.UNKNOWN, Confidence.MEASURED, {"error": "the inter-broker listener is unknown", "needs": needs}
    if used.protocol != "SSL":
        reason = f"the inter-broker listener {used.name} is {used.protocol}"
        return Status.NOT_APPLICABLE, Confidence.MEASURED, {"reason": reason}
    seen = [between.principal(source, result.broker) for source in between.brokers]
    names = tuple(dict.fromkeys(name for principal in seen for name in principal.names))
    status, confidence, reported = _unnamed(facts_of(view).symptom(result.broker), seen) or _named(result, names)
    return status, confidence, {"listener": used.name, "principal": " or ".join(names) or "unknown"} | reported


def _unnamed(symptom: str | None, seen: Sequence[Principal]) -> _Verdict | None:
    """Judge rules that Kafka refuses, which is another fault, or that give a certificate no name."""
    if refused := next((principal for principal in seen if principal.refused), None):
        error = f"Kafka rejects {KEY} at startup, see KA413: {refused.refused}"
        return Status.UNKNOWN, Confidence.MEASURED, {"error": error, "needs": refused.needs}
    if fails := next((principal for principal in seen if principal.fails), None):
        status = Status.FAIL if symptom else Status.UNKNOWN
        return status, Confidence.INFERRED, {"why": fails.fails, "error": fails.fails, "needs": fails.needs}
    return None


def _named(result: ClusterActionResult, names: tuple[str, ...]) -> _Verdict:
    """Judge principals by the authorizer of the broker."""
    lacking = " and ".join(dict.fromkeys(pair.name for pair in result.pairs if pair.name in names))
    if result.status is Status.FAIL and lacking:
        key = SUPER_USERS if lacking == ANONYMOUS else KEY
        return Status.FAIL, result.confidence, {"key": key, "why": f"{lacking} has no ClusterAction there ({result.why})"}
    if result.status in {Status.PASS, Status.NOT_APPLICABLE}:
        return Status.PASS, Confidence.MEASURED, {"why": result.why or result.reason}
    needs = result.needs or f"the authorizer log of broker {result.broker}"
    return Status.UNKNOWN, Confidence.MEASURED, {"error": result.error or result.why, "needs": needs}
