"""A connection opens and is closed at the first request, by a sidecar, a proxy or a forward without a broker behind it."""

from collections.abc import Iterator

from kafka_audit.faults.edges import Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.fault import EdgeObservation, begins_at, closed_at_once, fails, fault, works
from kafka_audit.model.read_failure import ReadFailure

_AT_REQUEST = frozenset({ReadFailure.CLOSED, ReadFailure.RESET})


@fault
def connection_closed(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """A probe from the source's own host shows it, in two samples. One that stays open elsewhere makes it unlikely there.

    A broker above its limit closes a connection before anything is sent, so that one counts only without a limit.
    """
    if edge.listener is None:
        return
    unlimited = facts.limits(edge.target, edge.listener.name) == {}
    for probe in facts.view.probes_of(edge.target, edge.listener.name):
        mine = probe.role == "broker" and probe.from_broker in edge.sources
        side = f"probe from broker {probe.from_broker}'s host" if mine else f"vantage {probe.vantage}"
        failure = probe.failed.failure if probe.failed is not None and probe.failed.layer == "api" else None
        if unlimited and closed_at_once(probe, edge):
            yield fails(
                side, "the connection opens, and is closed before anything is sent", direct=True, sources=begins_at(probe)
            )
        elif mine and probe.repeated and failure in _AT_REQUEST:
            yield fails(side, "the connection opens, and is closed at the first request", direct=True, sources=begins_at(probe))
        elif "api" in probe.passed or (failure and failure not in {ReadFailure.CLOSED_AT_ONCE, *_AT_REQUEST}):
            yield works(side, f"a connection to {probe.endpoint.address} stays open", direct=mine)
