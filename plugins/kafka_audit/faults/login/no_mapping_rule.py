"""A broker's rules map the certificate or the Kerberos name of the others to no principal, which ends the connection."""

from collections import defaultdict

from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works

_MAPPED = ("GSSAPI", None)


@fault
def no_mapping_rule(facts: Facts, edge: Edge) -> Observations:
    """Only the subject of a certificate (SSL) and a Kerberos name pass through rules. Its own log names what no rule maps.

    The names that a server shows are taken for those of the same broker as a client.
    """
    if edge.listener is None or edge.listener.protocol is None:
        return
    maps_names = edge.listener.protocol != "PLAINTEXT"
    mechanisms = {facts.between.mechanism(source).value for source in facts.users(edge)} if edge.listener.logs_in else set()
    if not maps_names or (edge.listener.logs_in and not mechanisms & {*_MAPPED}):
        with_what = ", ".join(sorted(filter(None, mechanisms))) if maps_names else "PLAINTEXT"
        yield works("protocol", f"the brokers' listener is {with_what}", direct=True)
        return
    side, nameless = f"rules of broker {edge.target}", defaultdict(list)
    for source in facts.users(edge):
        if fails_by := facts.between.principal(source, edge.target).fails:
            nameless[fails_by].append(source)
    for text, sources in nameless.items():
        yield fails(side, text, sources=sources)
    if not nameless and edge.sources and all(facts.between.principal(source, edge.target).names for source in edge.sources):
        yield works(side, "they map the others to a principal")
