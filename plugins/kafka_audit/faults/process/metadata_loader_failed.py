"""A KRaft broker reads the metadata log and does not apply it: its loader or a publisher failed (KAFKA-14114 and kin)."""

from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works


@fault
def metadata_loader_failed(facts: Facts, edge: Edge) -> Observations:
    """Its log says so; or the log end offset is current and the view is old: what was fetched was not applied."""
    line = next((row for row in facts.view.logs.of_nodes("KA221") if row.broker_id == edge.target), None)
    if line is not None:
        yield fails(f"log of broker {edge.target}", says(line), direct=True)
    elif edge.carries is not None and edge.effect.state == "missing":
        yield fails("quorum", f"{edge.carries}, and {edge.effect.text}")
    elif edge.target in facts.view.quorum.now.late:
        yield works("quorum", f"the leader of the metadata quorum has not seen broker {edge.target} caught up")
    elif facts.edges.knows_that_it_is_fenced(edge.target):
        yield works("view", f"the own view of broker {edge.target} does not list it either: it has applied that it is fenced")
