"""A broker closes connections above a limit; the inter-broker listener is not exempt from the limit of an address."""

from kafka_audit.cluster.releases import does
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.faults.fault import Edge, Facts, Observations, begins_at, closed_at_once, fails, fault, unknown, works

_LOW = 100  # what brokers and the tools on their hosts reach


@fault
def connection_limit(facts: Facts, edge: Edge) -> Observations:
    """`max.connections.per.ip` counts connections of brokers as well (`SocketServer`): DescribeConfigs shows the limit.

    A connection above it is accepted, and closed before a request is read; so is one above a quota of its address (KIP-612).
    """
    listener = "" if edge.listener is None else edge.listener.name
    limits = facts.limits(edge.target, listener)
    closed = [probe for probe in facts.view.probes_of(edge.target, listener) if closed_at_once(probe, edge)]
    if limits == {}:
        if closed and does(facts.view, edge.target, "ip_quotas") is not False:
            text = "it sets no limit on connections; quotas of addresses were not read"
            yield unknown(f"settings of broker {edge.target}", text)
        else:
            yield works(f"settings of broker {edge.target}", "no limit on connections is set")
        return
    for probe in closed:
        text = "the connection opens, and is closed before anything is sent"
        yield fails(f"probe from broker {probe.from_broker}'s host", text, direct=bool(limits), sources=begins_at(probe))
    low = {key: value for key, value in (limits or {}).items() if any(_is_low(part) for part in value.split(","))}
    if low:
        named = ", ".join(f"{key}={value}" for key, value in low.items())
        yield fails(f"settings of broker {edge.target}", f"{named}, which also limits connections of brokers")


def _is_low(part: str) -> bool:
    number = integer(part.rpartition(":")[2].strip())
    return number is not None and 0 <= number <= _LOW
