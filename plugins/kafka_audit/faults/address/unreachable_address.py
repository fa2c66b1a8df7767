"""The address that a broker advertises cannot be resolved or reached."""

from kafka_audit.faults.controller_paths import controller_paths
from kafka_audit.faults.edges import FOLLOW
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, unknown, works
from kafka_audit.model.text import brokers, counted


@fault
def unreachable_address(facts: Facts, edge: Edge) -> Observations:
    """A probe from the source's own host, or its log, shows it. Only the same two speak against it: routes differ by host."""
    if edge.kind == FOLLOW:
        yield from _to_controllers(facts, edge)
        return
    if edge.listener is None:
        return
    found = facts.paths(edge.target, edge.listener.name)
    sources = set(edge.sources)
    closed = sources & set(found.closed)
    for source in sorted(closed):
        side, layer = f"probe from broker {source}'s host", found.failed[source]
        error = layer.error or "an unknown error"
        text = f"fails at {layer.layer}: {error}"
        yield fails(side, text, direct=True, sources=(source,), layer=layer.layer, error=error)
    if sources and sources <= set(found.open):
        yield from _connects(facts, edge, edge.listener.name)
    elif sources and not closed:
        tried = facts.view.probes_of(edge.target, edge.listener.name)
        asked = any(probe.role == "broker" and probe.from_broker in sources for probe in tried)
        where = f"from the host of {edge.who}"
        once = "fails in only one sample" if sources & set(found.moving) else "has no result"
        yield unknown("vantages", f"the probe {where} {once}" if asked else f"no probe ran {where}")


def _connects(facts: Facts, edge: Edge, listener: str) -> Observations:
    """Yield what an open connection shows: it may lead to another address, or not to a broker."""
    place = (edge.target, listener)
    every = (address for address in facts.view.name_addresses if (address.row.broker_id, address.row.listener) == place)
    vain = [address for address in every if address.lasting and address.row.from_broker in edge.sources]
    for address in vain:
        yield fails(f"probe from {address.place}", f"{address.text}, one of {address.count} addresses of {address.row.host}")
    if not vain:
        observer = f"probe from the host of {brokers(edge.sources)}"
        yield works(observer, f"a probe from the host of {edge.who} connects", direct=True)


def _to_controllers(facts: Facts, edge: Edge) -> Observations:
    """Yield what probes from the broker's host to the addresses of `controllers` show, and its own log."""
    host = f"probe from broker {edge.target}'s host"
    own = [path for path in facts.view.derived(controller_paths) if path.source == edge.target]
    closed = [path for path in own if path.state == "closed" and path.failed_at_network]
    if own and len(closed) == len(own):
        yield fails(host, f"reaches none of {counted(len(own), 'controller')}: {closed[0].layer}: {closed[0].error}", direct=True)
    elif own and not any(path.failed_at_network for path in own):
        yield works(host, f"reaches {counted(len(own), 'controller')}", direct=True)
    else:
        yield unknown("vantages", f"the connection from broker {edge.target} to the controllers was not measured")
        missed = [other for other in facts.between.brokers if other != edge.target and _misses(facts, edge.target, other)]
        if missed:
            yield fails(host, f"does not reach {brokers(missed)} either")


def _misses(facts: Facts, source: int, other: int) -> bool:
    listener = facts.between.listener(other)
    return listener is not None and source in facts.paths(other, listener.name).closed
