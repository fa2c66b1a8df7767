"""A broker's certificate is out of date, or does not name the address that the others connect to."""

from collections.abc import Iterator

from kafka_audit.faults.cause import TLS, EdgeObservation, cause, fails, works
from kafka_audit.faults.edges import CONTROL, REPLICATE, Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.handshakes import WITH_TLS, tls_lines
from kafka_audit.model.finding import Confidence


@cause(
    kind=TLS,
    protocols=WITH_TLS,
    layer=3,
    edges=(CONTROL, REPLICATE),
    decided_by="`openssl s_client -connect {address} -verify_hostname {host}`, or `SSL handshake failed` in the log of {sources}",
    words="a certificate with another name or date",
)
def invalid_certificate(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """The certificate that the broker presents shows its dates and names to every client."""
    yield from tls_lines(facts, edge, "invalid_certificate")
    if edge.listener is None or not edge.listener.encrypted:
        return
    faults = [fault for fault in facts.logins(edge.target, edge.listener) if fault.kind == "certificate"]
    for fault in faults:
        yield fails(f"certificate of broker {edge.target}", fault.text, direct=fault.confidence is Confidence.MEASURED)
    shown = facts.view.logins.certificate(edge.target, edge.listener.name)
    if shown is not None and not faults:
        yield works(f"certificate of broker {edge.target}", f"it is valid and names {shown.host}", direct=True)
