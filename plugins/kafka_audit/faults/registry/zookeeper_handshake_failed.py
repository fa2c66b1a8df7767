"""The TLS handshake of a broker with ZooKeeper fails."""

from collections.abc import Iterator

from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.faults.cause import SESSION_TLS, EdgeObservation, cause, fails, works
from kafka_audit.faults.edges import COORDINATE, Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.model.log_signatures import login_fault

_KEY = "zookeeper.ssl.client.enable"


@cause(
    kind=SESSION_TLS,
    layer=3,
    edges=(COORDINATE,),
    rare=True,
    decided_by="`SSLHandshakeException` in server.log of {sources}",
    remedy="Give {sources} and ZooKeeper certificates that the other side accepts (`zookeeper.ssl.*`).",
)
def zookeeper_handshake_failed(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """The broker's log shows it; without `zookeeper.ssl.client.enable` there is no handshake."""
    setting = facts.between.settings.running(edge.target, _KEY)
    if setting.known and setting.value != "true":
        yield works(f"settings of broker {edge.target}", f"{_KEY} is not set", direct=True)
    for line in facts.lines(edge, "KA412")[:1]:
        show = fails if login_fault(line) == "certificate" else works
        yield show(f"log of broker {line.broker_id}", says(line), direct=True)
