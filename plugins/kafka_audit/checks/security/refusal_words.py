"""How KA401 and KA403 are put into words: which broker refuses whom, on which listener, and what else it could be."""

from kafka_audit.checks.security.cluster_action import SOMEBODY, Standing
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.model.finding import Confidence
from kafka_audit.model.text import brokers

_REFUSES = {
    Confidence.MEASURED: "rejects",
    Confidence.INFERRED: "most likely rejects",
    Confidence.SUSPECTED: "possibly rejects",
}
_MEANING = {"KA302": "KA302 (an unreachable address)", "KA412": "KA412 (a failed login)"}


def standing_evidence(between: InterBroker, standing: Standing) -> dict[str, object]:
    """Return the evidence of a broker's standing, the same keys whatever its status is."""
    sources = sorted({source for pair in standing.pairs for source in pair.sources})
    names = sorted({pair.name for pair in standing.pairs} - {SOMEBODY})
    controller = between.controller
    listener = between.listener(controller if controller in sources else sources[0]) if sources else None
    whom = brokers(sources)
    if controller is not None and controller in sources:
        whom = "itself, its controller" if controller == standing.broker else f"controller {controller}"
    elif between.kraft:
        whom = "the other brokers"
    return {
        "broker": standing.broker,
        "key": between.settings.first_set(standing.broker, "super.users", "authorizer.class.name"),
        "who": f"broker {standing.broker}",
        "refuses": _REFUSES[standing.confidence],
        "whom": whom,
        "principal": tuple(names) or "the inter-broker principal",
        "from": tuple(sources) or None,
        "listener": listener.name if listener else "unknown",
        "protocol": (listener.protocol if listener else None) or "unknown",
        "authorizer": between.authorizer(standing.broker).value or "none",
        "why": standing.why or standing.error or standing.reason,
        "symptom": standing.symptom,
        "rivals": tuple(_MEANING[rival] for rival in standing.rivals) or None,
        "hidden": next((pair.hidden_key for pair in standing.pairs if pair.hidden_key), None),
        "error": standing.error or None,
        "needs": standing.needs or None,
        "reason": standing.reason or None,
    }
