"""The TLS handshake of a broker with ZooKeeper fails."""

from collections.abc import Iterator

from kafka_audit.faults.edges import Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.fault import EdgeObservation, fault, works

_KEY = "zookeeper.ssl.client.enable"


@fault
def zookeeper_handshake_failed(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """The broker's log shows it; without `zookeeper.ssl.client.enable` there is no handshake."""
    setting = facts.between.settings.running(edge.target, _KEY)
    if setting.known and setting.value != "true":
        yield works(f"settings of broker {edge.target}", f"{_KEY} is not set", direct=True)
