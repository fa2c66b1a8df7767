"""A broker does not know the user of the others, or knows another password."""

from collections.abc import Iterator

from kafka_audit.faults.edges import FOLLOW, Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.fault import EdgeObservation, fails, fault, works
from kafka_audit.model.text import brokers


@fault
def wrong_credentials(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """Files of both sides show it, and the log of the refused side; no probe does, and a SCRAM password is seen nowhere."""
    if edge.kind == FOLLOW or edge.listener is None or not edge.listener.logs_in:
        return
    found = [one for one in facts.logins(edge.target, edge.listener) if one.kind in {"credential", "scram_user"}]
    for one in found:
        yield fails(f"file of broker {edge.target}", one.text, direct=True)
    between, name = facts.between, edge.listener.name
    known = facts.view.logins.known_users(edge.target, name, "PLAIN") if name in between.plain else None
    plain = all(between.mechanism(source).value == "PLAIN" for source in edge.sources)
    if known and plain and not found:
        yield works(f"file of broker {edge.target}", f"it has the user and password of {brokers(edge.sources)}", direct=True)
