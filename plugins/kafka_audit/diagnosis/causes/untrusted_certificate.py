"""The others do not trust the CA that signed a broker's certificate, as after a CA was replaced in the wrong order."""

from collections.abc import Iterator

from kafka_audit.diagnosis.cause import TLS, EdgeObservation, cause, fails, let_in, works
from kafka_audit.diagnosis.edges import CONTROL, FOLLOW, REPLICATE, Edge
from kafka_audit.diagnosis.facts import Facts
from kafka_audit.diagnosis.handshakes import tls_lines, without_tls
from kafka_audit.model.text import brokers, clean


@cause(
    kind=TLS,
    layer=3,
    edges=(CONTROL, REPLICATE, FOLLOW),
    decided_by="`PKIX path` or `SSL handshake failed` in server.log of {sources}, or the truststore there",
)
def untrusted_certificate(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """Only the peers' truststores decide: that the auditor trusts a certificate, or does not, says nothing about them.

    A source that accepts another broker's certificate of the same issuer trusts that issuer.
    """
    yield from (*without_tls(edge), *let_in(edge), *tls_lines(facts, edge, "untrusted_certificate"))
    if edge.kind == FOLLOW or edge.listener is None or not edge.listener.encrypted:
        return
    issuers = facts.issuers(edge.listener.name)
    own = issuers.get(edge.target)
    if own is None or edge.kind != CONTROL:
        return
    accepted = [broker for broker in facts.accepting if broker != edge.target and broker in issuers]
    same = [broker for broker in accepted if issuers[broker] == own]
    if same:
        text = f"{edge.who} accepts {brokers(same)}, whose certificate has the same issuer"
        yield works(f"certificate of broker {edge.target}", text)
    elif accepted:
        text = f"its issuer is {clean(own, 100)}; {edge.who} accepts {brokers(accepted)}, whose certificate has another issuer"
        yield fails(f"certificate of broker {edge.target}", text)
