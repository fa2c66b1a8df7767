"""A broker does not offer the SASL mechanism with which the others log in."""

from collections.abc import Iterator

from kafka_audit.faults.cause import LOGIN, EdgeObservation, cause, fails, works
from kafka_audit.faults.edges import CONTROL, REPLICATE, Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.handshakes import WITH_LOGIN, login_lines
from kafka_audit.model.finding import Confidence


@cause(
    kind=LOGIN,
    protocols=WITH_LOGIN,
    layer=4,
    edges=(CONTROL, REPLICATE),
    decided_by="`sasl.enabled.mechanisms` of broker {target} and `sasl.mechanism.inter.broker.protocol` of {sources}",
    words="a mechanism that is not offered",
)
def mechanism_not_offered(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """What a probe heard of the running broker, or its settings, beside the mechanism of the others."""
    yield from login_lines(facts.lines(edge, "KA412"), "mechanism")
    if edge.listener is None or not edge.listener.logs_in:
        return
    faults = [fault for fault in facts.logins(edge.target, edge.listener) if fault.kind == "mechanism"]
    for fault in faults:
        yield fails(f"broker {edge.target}", fault.text, direct=fault.confidence is Confidence.MEASURED)
    offered = facts.view.logins.offered_mechanisms(edge.target, edge.listener.name)
    wanted = {facts.between.mechanism(source).value for source in edge.sources}
    if not faults and offered and wanted and wanted <= offered:
        yield works(f"broker {edge.target}", f"it offers {', '.join(sorted(filter(None, wanted)))}", direct=True)
