"""The controller holds its znode and sends nothing: its event thread hangs, or it missed a quick restart (KAFKA-1120)."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works
from kafka_audit.model.text import brokers, counted


@fault
def controller_idle(facts: Facts, edge: Edge) -> Observations:
    """When a broker goes, its controller gives its partitions other leaders: a state from before a registration was not replaced.

    A broker without a view has followed and led nothing since it registered. A controller that was elected later knew it. That
    no broker has received anything shows nothing: all addresses may be out of reach.
    """
    own = facts.edges.own_view(edge.target)
    if own is not None and not any(own.listed):
        yield from _registered(facts, edge) if edge.effect.state == "missing" else ()
    elif facts.accepting:
        yield works(brokers(facts.accepting), f"what {edge.who} sends has arrived there")
    sender = facts.edges.own_view(edge.sources[0])
    is_filled = sender is not None and any(sender.listed)
    if is_filled and all(facts.edges.control(broker).state == "missing" for broker in facts.between.brokers):
        yield fails("views", f"every broker misses something, {edge.who} too, which has received updates before")


def _registered(facts: Facts, edge: Edge) -> Observations:
    """Yield whether the controller has processed that a broker registered, of one that has no view."""
    registered, state = facts.view.brokers.get(edge.target), facts.view.state
    share = facts.view.partitions.shares.get(edge.target)
    if registered is None or registered.created is None or state is None or state.controller_version is None:
        return
    if share is not None and (share.newest_led or 0) > registered.created:
        yield works("zookeeper", f"{edge.who} has made broker {edge.target} a leader since it registered")
    elif state.controller_version > registered.created:
        if facts.accepting:
            yield works(
                brokers(facts.accepting), f"{edge.who} was elected after broker {edge.target} registered, and has sent this"
            )
    elif share is not None and share.led:
        states = f"broker {edge.target} leads {counted(share.led, 'partition')} by states from before it registered"
        yield fails("zookeeper", f"{states}: {edge.who} has not processed that it went")
    elif share is not None and not share.in_sync and facts.accepting:
        text = f"broker {edge.target} is listed there, and in no ISR: {edge.who} has processed that it went and came back"
        yield works(brokers(facts.accepting), text)
