"""A broker reaches no ZooKeeper server: no route, a filter, a name that is not resolved there."""

from kafka_audit.faults.controller_paths import zookeeper_paths
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, unknown, works
from kafka_audit.model.text import counted


@fault
def zookeeper_unreachable(facts: Facts, edge: Edge) -> Observations:
    """Probes from the broker's own host show it, and its log; one server that is reached is enough for a session."""
    host = f"probe from broker {edge.target}'s host"
    own = [path for path in facts.view.derived(zookeeper_paths) if path.source == edge.target]
    closed = [path for path in own if path.is_cut]
    if own and len(closed) == len(own):
        text = f"reaches none of {counted(len(own), 'server')} of ZooKeeper: {closed[0].layer}: {closed[0].error}"
        yield fails(host, text, direct=True)
    elif any(path.state == "open" for path in own):
        yield works(host, f"reaches ZooKeeper at {next(path.address for path in own if path.state == 'open')}", direct=True)
    else:
        yield unknown("vantages", f"the connection from broker {edge.target} to ZooKeeper was not measured")
