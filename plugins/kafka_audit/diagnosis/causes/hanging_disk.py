"""A leader cannot read from a log dir, so that no follower gets anything from it."""

from collections.abc import Iterator

from kafka_audit.diagnosis.cause import DISK, EdgeObservation, cause, fails, unanswered, works
from kafka_audit.diagnosis.edges import REPLICATE, Edge
from kafka_audit.diagnosis.facts import Facts
from kafka_audit.model.read_failure import ReadFailure

_DIRS, _PROMPT_MS = "DescribeLogDirs", 1_000


@cause(
    kind=DISK,
    layer=6,
    edges=(REPLICATE,),
    rare=True,
    decided_by="`iostat -x 5` and `dmesg` on the host of broker {target}",
)
def hanging_disk(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """DescribeLogDirs of the leader is late or fails; an answer in time says nothing: it asks a file system for its size alone.

    A disk that keeps all threads of a broker waiting keeps them from answering at any of its addresses.
    """
    asked = [read for read in facts.reads.get(edge.target, ()) if read.operation == _DIRS]
    if any(read.failure is ReadFailure.TIMEOUT for read in asked):
        yield fails(f"broker {edge.target}", f"{_DIRS} got no answer in time")
    slowest = facts.slowest_ms.get(edge.target, _PROMPT_MS + 1)
    probes = facts.view.probes_of(edge.target, "" if edge.listener is None else edge.listener.name)
    hosts = {probe.from_broker for probe in probes if probe.role == "broker" and unanswered(probe)}
    if slowest <= _PROMPT_MS and edge.sources and hosts >= {*edge.sources}:
        text = f"a request that reads no disk gets no answer there, and it answered all others within {max(slowest, 1)} ms"
        yield works(f"probe from the host of {edge.who}", text)
