"""A broker's rules map the certificate or the Kerberos name of the others to no principal, which ends the connection."""

from collections.abc import Iterator

from kafka_audit.faults.edges import Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.fault import EdgeObservation, fails, fault, works

_MAPPED = ("GSSAPI", None)


@fault
def no_mapping_rule(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """Only the subject of a certificate (SSL) and a Kerberos name pass through rules. Its own log names what no rule maps."""
    if edge.listener is None or edge.listener.protocol is None:
        return
    mechanisms = {facts.between.mechanism(source).value for source in edge.sources}
    if edge.listener.protocol == "PLAINTEXT" or (edge.listener.logs_in and not mechanisms & {*_MAPPED}):
        with_what = "PLAINTEXT" if edge.listener.protocol == "PLAINTEXT" else ", ".join(sorted(filter(None, mechanisms)))
        yield works("protocol", f"the brokers' listener is {with_what}", direct=True)
        return
    found = [one for one in facts.logins(edge.target, edge.listener) if one.kind == "principal"]
    for one in found:
        yield fails(f"rules of broker {edge.target}", one.text)
    if not found and edge.sources and all(facts.between.principal(source, edge.target).names for source in edge.sources):
        yield works(f"rules of broker {edge.target}", "they map the others to a principal")
