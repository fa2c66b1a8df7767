"""A broker has its session, and its registration is gone: deleted by hand, or not made again after a new session (KAFKA-7165)."""

from kafka_audit.faults.controller_paths import zookeeper_paths
from kafka_audit.faults.facts import PROMPT_MS
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works


@fault
def registration_deleted(facts: Facts, edge: Edge) -> Observations:
    """The broker's host reaches ZooKeeper, and its log was read and reports no trouble: so it takes itself for registered.

    A controller has a session, whether its log was read or not. One that stalls may have lost it, and could not write so.
    """
    if edge.carries is not None and edge.effect.state == "missing":
        yield fails("zookeeper", edge.carries)
        return
    logs = facts.view.logs.to_zookeeper(edge.target)
    if logs:
        yield works(f"log of broker {edge.target}", "it reports that the connection to ZooKeeper fails", direct=True)
        return
    opens = [path for path in facts.view.derived(zookeeper_paths) if path.source == edge.target and path.state == "open"]
    if opens and facts.log_was_read(edge.target) and facts.slowest_ms.get(edge.target, 0) <= PROMPT_MS:
        text = f"it reaches ZooKeeper at {opens[0].address}, and its log reports no failure"
        yield fails(f"probe from broker {edge.target}'s host", text)
