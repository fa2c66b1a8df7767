"""How KA404 judges the name that a broker makes of the other brokers' certificates."""

from collections.abc import Sequence

from kafka_audit.checks.security.cluster_action import Standing
from kafka_audit.cluster.listeners.principals import Principal
from kafka_audit.cluster.symptoms import Symptoms
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.authorization import SUPER_USERS
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.configuration.principals.ssl_rules import KEY
from kafka_audit.model.finding import Confidence, Status

Verdict = tuple[Status, Confidence, dict[str, str]]


def verdict(view: ClusterView, standing: Standing) -> Verdict:
    """Return status, confidence and evidence for one broker."""
    between = view.inter_broker
    used = between.listener(between.controller if between.controller is not None else standing.broker) or between.listener(
        standing.broker
    )
    if used is None or used.protocol is None:
        needs = f"DescribeConfigs on Cluster, or server.properties of broker {standing.broker}"
        return Status.UNKNOWN, Confidence.MEASURED, {"error": "the inter-broker listener is unknown", "needs": needs}
    if used.protocol != "SSL":
        reason = f"the inter-broker listener {used.name} is {used.protocol}"
        return Status.NOT_APPLICABLE, Confidence.MEASURED, {"reason": reason}
    seen = [between.principal(source, standing.broker) for source in between.brokers]
    names = tuple(dict.fromkeys(name for principal in seen for name in principal.names))
    status, confidence, reported = _unnamed(view.symptoms, standing, seen) or _named(standing, names)
    return status, confidence, {"listener": used.name, "principal": " or ".join(names) or "unknown"} | reported


def _unnamed(symptoms: Symptoms, standing: Standing, seen: Sequence[Principal]) -> Verdict | None:
    """Judge rules that Kafka refuses, which is another fault, or that give a certificate no name."""
    if refused := next((principal for principal in seen if principal.refused), None):
        error = f"Kafka rejects {KEY} at startup, see KA413: {refused.refused}"
        return Status.UNKNOWN, Confidence.MEASURED, {"error": error, "needs": refused.needs}
    if fails := next((principal for principal in seen if principal.fails), None):
        status = Status.FAIL if symptoms.lasting(standing.broker) else Status.UNKNOWN
        return status, Confidence.INFERRED, {"why": fails.fails, "error": fails.fails, "needs": fails.needs}
    return None


def _named(standing: Standing, names: tuple[str, ...]) -> Verdict:
    """Judge names by what the broker's authorizer says of them."""
    lacking = " and ".join(dict.fromkeys(pair.name for pair in standing.pairs if pair.name in names))
    if standing.status is Status.FAIL and lacking:
        key = SUPER_USERS if lacking == ANONYMOUS else KEY
        return Status.FAIL, standing.confidence, {"key": key, "why": f"{lacking} has no ClusterAction there ({standing.why})"}
    if standing.status in {Status.PASS, Status.NOT_APPLICABLE}:
        return Status.PASS, Confidence.MEASURED, {"why": standing.why or standing.reason}
    needs = standing.needs or f"the authorizer log of broker {standing.broker}"
    return Status.UNKNOWN, Confidence.MEASURED, {"error": standing.error or standing.why, "needs": needs}
