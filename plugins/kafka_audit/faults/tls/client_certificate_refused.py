"""A broker demands a client certificate that the others do not have, or whose issuer it does not trust."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fault, works

_KEY = "ssl.client.auth"


@fault
def client_certificate_refused(facts: Facts, edge: Edge) -> Observations:
    """A listener that asks for no certificate refuses none; on SASL_SSL only the listener's own key counts (KIP-684)."""
    if edge.listener is None or not edge.listener.encrypted:
        return
    settings, name = facts.between.settings, edge.listener.name
    own_key = f"listener.name.{name.lower()}.{_KEY}"
    setting = settings.running(edge.target, own_key) if edge.listener.logs_in else settings.running_at(edge.target, name, _KEY)
    if setting.known and setting.value in {None, "", "none"}:
        yield works(f"settings of broker {edge.target}", f"listener {name} does not request a client certificate", direct=True)
