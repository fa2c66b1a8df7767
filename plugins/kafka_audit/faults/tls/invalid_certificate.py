"""A broker's certificate is out of date, or does not name the address that the others connect to."""

from collections.abc import Iterator

from kafka_audit.faults.edges import Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.fault import EdgeObservation, fails, fault, works
from kafka_audit.model.finding import Confidence


@fault
def invalid_certificate(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """The certificate that the broker presents shows its dates and names to every client."""
    if edge.listener is None or not edge.listener.encrypted:
        return
    found = [one for one in facts.logins(edge.target, edge.listener) if one.kind == "certificate"]
    for one in found:
        yield fails(f"certificate of broker {edge.target}", one.text, direct=one.confidence is Confidence.MEASURED)
    shown = facts.view.logins.certificate(edge.target, edge.listener.name)
    if shown is not None and not found:
        yield works(f"certificate of broker {edge.target}", f"it is valid and names {shown.host}", direct=True)
