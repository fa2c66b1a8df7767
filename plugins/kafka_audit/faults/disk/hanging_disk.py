"""A leader cannot read from a log dir, or a follower cannot write to one, so that replicas do not follow."""

from kafka_audit.faults.facts import PROMPT_MS, SLOW_MS, TIMES
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, unanswered, works
from kafka_audit.model.read_failure import ReadFailure

_DIRS = "DescribeLogDirs"


@fault
def hanging_disk(facts: Facts, edge: Edge) -> Observations:
    """DescribeLogDirs at either end is late or fails; an answer in time says nothing: it asks a file system for its size alone.

    A disk that keeps all threads of a broker waiting keeps them from answering at any of its addresses.
    """
    parties = dict.fromkeys((edge.target, *edge.sources))
    for party in parties:
        asked = [read for read in facts.reads.get(party, ()) if read.operation == _DIRS]
        took = max((read.elapsed_ms for read in asked if read.timed), default=0)
        if any(read.failure is ReadFailure.TIMEOUT for read in asked):
            yield fails(f"broker {party}", f"{_DIRS} got no answer in time")
        elif took >= max(SLOW_MS, TIMES * facts.usual_ms):
            yield fails(f"broker {party}", f"{_DIRS} took {took} ms")
    slowest = max(facts.slowest_ms.get(party, PROMPT_MS + 1) for party in parties)
    probes = facts.view.probes_of(edge.target, "" if edge.listener is None else edge.listener.name)
    hosts = {probe.from_broker for probe in probes if probe.role == "broker" and unanswered(probe)}
    if slowest <= PROMPT_MS and edge.sources and hosts >= {*edge.sources}:
        text = f"a request that reads no disk gets no answer there, and all others were answered within {max(slowest, 1)} ms"
        yield works(f"probe from the host of {edge.who}", text)
