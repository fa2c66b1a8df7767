"""At the address that a broker advertises, another program answers: a web server, a proxy, a database."""

from kafka_audit.faults.fault import Edge, Facts, Observations, begins_at, fails, fault, works
from kafka_audit.model.read_failure import ReadFailure

_OTHERS = frozenset({ReadFailure.NOT_KAFKA, ReadFailure.NOT_TLS, ReadFailure.MALFORMED_ANSWER})


@fault
def another_protocol(facts: Facts, edge: Edge) -> Observations:
    """A probe from the source's own host gets an answer that is not Kafka's; an address seldom leads to two programs.

    A program that waits for more answers nothing, as a process that stands still: that it is another one is suspected only.
    """
    if edge.listener is None:
        return
    for probe in facts.view.probes_of(edge.target, edge.listener.name):
        direct = probe.role == "broker" and probe.from_broker in edge.sources
        side = f"probe from broker {probe.from_broker}'s host" if direct else f"vantage {probe.vantage}"
        stop = probe.failed if probe.state == "closed" else None
        if stop is not None and stop.failure in _OTHERS:
            yield fails(side, f"the port is open, and {stop.failure.words}", direct=direct, sources=begins_at(probe))
        elif stop is not None and (stop.layer, stop.failure) == ("api", ReadFailure.TIMEOUT):
            yield fails(side, "the port is open, and nothing answers Kafka's requests there")
        elif "api" in probe.passed:
            yield works(side, f"a broker answers at {probe.endpoint.address}", direct=direct)
