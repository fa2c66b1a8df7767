"""A leader cannot read from a log dir, so that no follower gets anything from it."""

from collections.abc import Iterator

from kafka_audit.diagnosis.cause import DISK, EdgeObservation, cause, fails, works
from kafka_audit.diagnosis.edges import REPLICATE, Edge
from kafka_audit.diagnosis.facts import Facts
from kafka_audit.model.read_failure import ReadFailure

_DIRS, _PROMPT_MS = "DescribeLogDirs", 1_000


@cause(
    kind=DISK,
    layer=6,
    edges=(REPLICATE,),
    rare=True,
    decided_by="`iostat -x 5` on the host of broker {target}, or DescribeLogDirs there",
)
def hanging_disk(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """DescribeLogDirs of the leader is late or fails."""
    asked = [read for read in facts.reads.get(edge.target, ()) if read.operation == _DIRS]
    late = [read for read in asked if read.failure is ReadFailure.TIMEOUT]
    if late:
        yield fails(f"broker {edge.target}", f"{_DIRS} got no answer in time")
    elif asked and all(read.outcome == "answered" and read.elapsed_ms <= _PROMPT_MS for read in asked):
        yield works(f"broker {edge.target}", f"it answered {_DIRS} within {max(1, *(read.elapsed_ms for read in asked))} ms")
