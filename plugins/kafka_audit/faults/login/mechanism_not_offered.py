"""A broker does not offer the SASL mechanism with which the others log in."""

from collections.abc import Iterator

from kafka_audit.faults.edges import Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.fault import EdgeObservation, fails, fault, works
from kafka_audit.model.finding import Confidence


@fault
def mechanism_not_offered(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """What a probe heard of the running broker, or its settings, beside the mechanism of the others."""
    if edge.listener is None or not edge.listener.logs_in:
        return
    found = [one for one in facts.logins(edge.target, edge.listener) if one.kind == "mechanism"]
    for one in found:
        yield fails(f"broker {edge.target}", one.text, direct=one.confidence is Confidence.MEASURED)
    offered = facts.view.logins.offered_mechanisms(edge.target, edge.listener.name)
    wanted = {facts.between.mechanism(source).value for source in edge.sources}
    if not found and offered and wanted and wanted <= offered:
        yield works(f"broker {edge.target}", f"it offers {', '.join(sorted(filter(None, wanted)))}", direct=True)
