"""In a migration, no KRaft controller runs: /controller is persistent, and names one that has ended."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works
from kafka_audit.faults.kraft_claim import KraftClaim
from kafka_audit.model.text import brokers


@fault
def controller_not_running(facts: Facts, edge: Edge) -> Observations:
    """A controller that answers runs. One of which another broker has something newer has run a moment ago."""
    claim = facts.view.derived(KraftClaim)
    if claim.answers:
        yield works("controller", "a KRaft controller answers", direct=True)
    elif claim.writes:
        yield works(f"log of controller {claim.node}", "it has written lines that count", direct=True)
    elif claim.acts is False:
        yield fails("zookeeper", f"{edge.who} holds /controller, and does not act: {claim.shown_by}")
    elif not (claim.is_known or facts.accepting):
        yield fails("zookeeper", f"{edge.who} holds /controller, and no other party knows it")
    if facts.accepting:
        yield works(brokers(facts.accepting), f"what {edge.who} sends has arrived there")
