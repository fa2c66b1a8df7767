"""How KA404 judges the name that a broker makes of the other brokers' certificates."""

from collections.abc import Sequence

from kafka_audit.checks.security.cluster_action import Standing
from kafka_audit.cluster.principals import Principal
from kafka_audit.cluster.symptoms import Symptoms
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.authorization import SUPER_USERS
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.configuration.principals.ssl_rules import KEY
from kafka_audit.model.finding import Confidence, Status

Verdict = tuple[Status, Confidence, dict[str, str]]


def verdict(view: ClusterView, one: Standing) -> Verdict:
    """Return status, confidence and evidence for one broker."""
    between = view.inter_broker
    used = between.listener(between.controller if between.controller is not None else one.broker) or between.listener(one.broker)
    if used is None or used.protocol is None:
        needs = f"DescribeConfigs on Cluster, or server.properties of broker {one.broker}"
        return Status.UNKNOWN, Confidence.MEASURED, {"error": "the inter-broker listener is unknown", "needs": needs}
    if used.protocol != "SSL":
        reason = f"the inter-broker listener {used.name} is {used.protocol}"
        return Status.NOT_APPLICABLE, Confidence.MEASURED, {"reason": reason}
    seen = [between.principal(source, one.broker) for source in between.brokers]
    names = tuple(dict.fromkeys(name for principal in seen for name in principal.names))
    status, confidence, told = _unnamed(view.symptoms, one, seen) or _named(one, names)
    return status, confidence, {"listener": used.name, "principal": " or ".join(names) or "unknown"} | told


def _unnamed(symptoms: Symptoms, one: Standing, seen: Sequence[Principal]) -> Verdict | None:
    """Judge rules that Kafka refuses, which is another fault, or that give a certificate no name."""
    if refused := next((principal for principal in seen if principal.refused), None):
        error = f"Kafka rejects {KEY} at startup, see KA413: {refused.refused}"
        return Status.UNKNOWN, Confidence.MEASURED, {"error": error, "needs": refused.needs}
    if fails := next((principal for principal in seen if principal.fails), None):
        status = Status.FAIL if symptoms.lasting(one.broker) else Status.UNKNOWN
        return status, Confidence.INFERRED, {"why": fails.fails, "error": fails.fails, "needs": fails.needs}
    return None


def _named(one: Standing, names: tuple[str, ...]) -> Verdict:
    """Judge names by what the broker's authorizer says of them."""
    lacking = " and ".join(dict.fromkeys(pair.name for pair in one.pairs if pair.name in names))
    if one.status is Status.FAIL and lacking:
        key = SUPER_USERS if lacking == ANONYMOUS else KEY
        return Status.FAIL, one.confidence, {"key": key, "why": f"{lacking} has no ClusterAction there ({one.why})"}
    if one.status in {Status.PASS, Status.NOT_APPLICABLE}:
        return Status.PASS, Confidence.MEASURED, {"why": one.why or one.reason}
    needs = one.needs or f"the authorizer log of broker {one.broker}"
    return Status.UNKNOWN, Confidence.MEASURED, {"error": one.error or one.why, "needs": needs}
