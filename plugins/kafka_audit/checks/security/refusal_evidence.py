"""The evidence of KA401 and KA403: the refusing broker, the refused one, the listener, and other possible causes."""

from kafka_audit.checks.security.cluster_action import ClusterActionResult
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.diagnosis.rights import UNKNOWN_PRINCIPAL
from kafka_audit.model.finding import Confidence
from kafka_audit.model.text import brokers

_REFUSES = {
    Confidence.MEASURED: "rejects",
    Confidence.INFERRED: "most likely rejects",
    Confidence.SUSPECTED: "possibly rejects",
}


def result_evidence(between: InterBroker, result: ClusterActionResult) -> dict[str, object]:
    """Return the evidence of an authorization result, with the same keys for each status."""
    sources = sorted({source for pair in result.pairs for source in pair.sources})
    names = sorted({pair.name for pair in result.pairs} - {UNKNOWN_PRINCIPAL})
    controller = between.controller
    listener = between.listener(controller if controller in sources else sources[0]) if sources else None
    whom = brokers(sources)
    if controller is not None and controller in sources:
        whom = "itself, its controller" if controller == result.broker else f"controller {controller}"
    elif between.kraft:
        whom = "the other brokers"
    return {
        "broker": result.broker,
        "key": between.settings.first_set(result.broker, "super.users", "authorizer.class.name"),
        "who": f"broker {result.broker}",
        "refuses": _REFUSES[result.confidence],
        "whom": whom,
        "principal": tuple(names) or "the inter-broker principal",
        "from": tuple(sources) or None,
        "listener": listener.name if listener else "unknown",
        "protocol": (listener.protocol if listener else None) or "unknown",
        "authorizer": between.authorizer(result.broker).value or "none",
        "why": result.why or result.error or result.reason,
        "symptom": result.symptom,
        "rivals": result.rivals or None,
        "hidden": next((pair.hidden_key for pair in result.pairs if pair.hidden_key), None),
        "error": result.error or None,
        "needs": result.needs or None,
        "reason": result.reason or None,
    }
