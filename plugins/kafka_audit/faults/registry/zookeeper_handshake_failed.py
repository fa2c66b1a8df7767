"""The TLS handshake of a broker with ZooKeeper fails."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fault, works

_KEY = "zookeeper.ssl.client.enable"


@fault
def zookeeper_handshake_failed(facts: Facts, edge: Edge) -> Observations:
    """The broker's log shows it; without `zookeeper.ssl.client.enable` there is no handshake."""
    setting = facts.between.settings.running(edge.target, _KEY)
    if setting.known and setting.value != "true":
        yield works(f"settings of broker {edge.target}", f"{_KEY} is not set", direct=True)
