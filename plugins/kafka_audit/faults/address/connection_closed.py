"""A connection opens and is closed at the first request, by a sidecar, a proxy or a forward without a broker behind it."""

from kafka_audit.cluster.listeners.probes import ProbeResult
from kafka_audit.cluster.releases import does
from kafka_audit.faults.fault import Edge, Facts, Observations, begins_at, closed_at_once, fails, fault, works
from kafka_audit.model.read_failure import ReadFailure

_AT_REQUEST = frozenset({ReadFailure.CLOSED, ReadFailure.RESET})


@fault
def connection_closed(facts: Facts, edge: Edge) -> Observations:
    """A probe from the source's own host shows it, in two samples. One that stays open elsewhere makes it unlikely there.

    A broker above its limit closes a connection before anything is sent, so that one counts only without a limit; quotas of
    addresses (KIP-612) are not read.
    """
    if edge.listener is None:
        return
    unlimited = facts.limits(edge.target, edge.listener.name) == {}
    probes = facts.view.probes_of(edge.target, edge.listener.name)
    shown = False
    for probe in (probe for probe in probes if probe.role == "broker" and probe.from_broker in edge.sources):
        side, failure = f"probe from broker {probe.from_broker}'s host", _failure(probe)
        if unlimited and closed_at_once(probe, edge):
            text, shown = "the connection opens, and is closed before anything is sent", True
            no_quota = does(facts.view, edge.target, "ip_quotas") is False
            yield fails(side, text, direct=no_quota, sources=begins_at(probe))
        elif probe.repeated and failure in _AT_REQUEST:
            text, shown = "the connection opens, and is closed at the first request", True
            yield fails(side, text, direct=True, sources=begins_at(probe))
        elif _stays_open(probe):
            yield works(side, f"a connection to {probe.endpoint.address} stays open", direct=True)
    # What others get there says nothing of a path that is seen to close connections.
    for probe in (probe for probe in probes if not shown and probe.from_broker not in edge.sources and _stays_open(probe)):
        yield works(f"vantage {probe.vantage}", f"a connection to {probe.endpoint.address} stays open")


def _failure(probe: ProbeResult) -> ReadFailure | None:
    return probe.failed.failure if probe.failed is not None and probe.failed.layer == "api" else None


def _stays_open(probe: ProbeResult) -> bool:
    """Return whether something answers a request, a broker or not, or keeps it waiting."""
    return "api" in probe.passed or _failure(probe) not in {None, ReadFailure.CLOSED_AT_ONCE, *_AT_REQUEST}
