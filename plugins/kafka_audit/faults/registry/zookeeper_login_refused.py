"""ZooKeeper refuses the SASL login of a broker."""

from collections.abc import Iterator

from kafka_audit.faults.edges import Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.fault import EdgeObservation, fault, works


@fault
def zookeeper_login_refused(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """Only the broker's log shows it: its login is in a JAAS file, which no file that is audited contains."""
    if not facts.lines(edge, "KA412") and facts.log_was_read(edge.target):
        yield works(f"log of broker {edge.target}", "it reports no refused login, which a client repeats", direct=True)
