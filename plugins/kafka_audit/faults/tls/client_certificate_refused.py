"""A broker demands a client certificate that the others do not have, or whose issuer it does not trust."""

from collections.abc import Iterator

from kafka_audit.faults.cause import TLS, EdgeObservation, cause, works
from kafka_audit.faults.edges import CONTROL, REPLICATE, Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.handshakes import WITH_TLS, tls_lines

_KEY = "ssl.client.auth"


@cause(
    kind=TLS,
    protocols=WITH_TLS,
    layer=3,
    edges=(CONTROL, REPLICATE),
    decided_by="`SSL handshake failed` in server.log of broker {target}, or the truststore there",
    words="a client certificate that is refused",
)
def client_certificate_refused(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """A listener that asks for no certificate refuses none; on SASL_SSL only the listener's own key counts (KIP-684)."""
    yield from tls_lines(facts, edge, "client_certificate_refused")
    if edge.listener is None or not edge.listener.encrypted:
        return
    settings, name = facts.between.settings, edge.listener.name
    own_key = f"listener.name.{name.lower()}.{_KEY}"
    setting = settings.running(edge.target, own_key) if edge.listener.logs_in else settings.running_at(edge.target, name, _KEY)
    if setting.known and setting.value in {None, "", "none"}:
        yield works(f"settings of broker {edge.target}", f"listener {name} does not request a client certificate", direct=True)
