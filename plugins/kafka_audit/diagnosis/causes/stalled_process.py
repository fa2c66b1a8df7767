"""A broker's process stands still for seconds: garbage collection, a host without CPU or memory, a stopped process."""

from collections.abc import Iterator

from kafka_audit.diagnosis.cause import PROCESS, EdgeObservation, cause, fails, works
from kafka_audit.diagnosis.edges import CONTROL, FOLLOW, REPLICATE, Edge
from kafka_audit.diagnosis.facts import Facts

_SLOW_MS, _PROMPT_MS, _TIMES = 2_000, 1_000, 10


@cause(
    kind=PROCESS,
    layer=2,
    edges=(CONTROL, REPLICATE, FOLLOW),
    rare=True,
    decided_by="the garbage collection log and `jstat -gcutil` of broker {target}",
)
def stalled_process(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """The times in which the broker answered the auditor, beside those of the other brokers, show it."""
    slowest = facts.slowest_ms.get(edge.target)
    if slowest is None:
        return
    if slowest <= _PROMPT_MS:
        yield works(f"broker {edge.target}", f"it answered each request of the auditor within {max(slowest, 1)} ms")
    elif slowest >= _SLOW_MS and slowest >= _TIMES * facts.usual_ms:
        text = f"it took {slowest} ms for an answer, where {facts.usual_ms:.0f} ms are usual"
        yield fails(f"broker {edge.target}", text)
