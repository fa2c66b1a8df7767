"""ZooKeeper refuses the SASL login of a broker."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fault, works


@fault
def zookeeper_login_refused(facts: Facts, edge: Edge) -> Observations:
    """Only the broker's log shows it: its login is in a JAAS file, which no file that is audited contains."""
    if not facts.lines(edge, "KA412") and facts.log_was_read(edge.target):
        yield works(f"log of broker {edge.target}", "it reports no refused login, which a client repeats", direct=True)
