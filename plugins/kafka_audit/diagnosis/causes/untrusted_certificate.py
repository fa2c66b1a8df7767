"""The others do not trust the CA that signed a broker's certificate, as after a CA was replaced in the wrong order."""

from collections.abc import Iterator

from kafka_audit.diagnosis.cause import TLS, EdgeObservation, cause, fails, works
from kafka_audit.diagnosis.edges import CONTROL, FOLLOW, REPLICATE, Edge
from kafka_audit.diagnosis.facts import Facts
from kafka_audit.diagnosis.handshakes import WITH_TLS, tls_lines
from kafka_audit.model.text import brokers, clean


@cause(
    kind=TLS,
    protocols=WITH_TLS,
    layer=3,
    edges=(CONTROL, REPLICATE, FOLLOW),
    decided_by="`PKIX path` or `SSL handshake failed` in server.log of {sources}, or the truststore there",
    words="an issuer that is not trusted",
)
def untrusted_certificate(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """Only the peers' truststores decide: that the auditor trusts a certificate, or does not, says nothing about them.

    A source that accepts another broker's certificate of the same issuer trusts that issuer.
    """
    yield from tls_lines(facts, edge, "untrusted_certificate")
    if edge.kind == FOLLOW or edge.listener is None or not edge.listener.encrypted:
        return
    issuers = facts.issuers(edge.listener.name)
    own = issuers.get(edge.target)
    if own is None or not edge.sources:
        return
    accepted = {source: [other for other in _accepted(facts, edge, source) if other in issuers] for source in edge.sources}
    named = sorted({other for others in accepted.values() for other in others})
    if not all(accepted.values()):
        return
    if all(any(issuers[other] == own for other in others) for others in accepted.values()):
        same = [other for other in named if issuers[other] == own]
        text = f"accepted by {edge.who}: {brokers(same)}, whose certificate has the same issuer"
        yield works(f"certificate of broker {edge.target}", text)
    elif not any(issuers[other] == own for other in named):
        others = f"{edge.who} is known to accept only certificates of other issuers"
        yield fails(f"certificate of broker {edge.target}", f"its issuer is {clean(own, 100)}; {others}")


def _accepted(facts: Facts, edge: Edge, source: int) -> list[int]:
    """Return the other brokers that a source is known to be connected with: the controller updates them, a follower follows."""
    if edge.kind == CONTROL:
        return [other for other in facts.accepting if other != edge.target]
    others = (other for other in facts.between.brokers if other not in {edge.target, source})
    return [other for other in others if facts.view.partitions.led_by((other,)) and source not in facts.edges.behind(other)]
