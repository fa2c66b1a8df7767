"""A broker's process stands still for seconds: garbage collection, a host without CPU or memory, a stopped process."""

from kafka_audit.faults.facts import PROMPT_MS, SLOW_MS, TIMES
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.text import brokers

_BY_DISK = frozenset({"DescribeLogDirs", "ListOffsets"})
"""Reads that a disk can delay."""


@fault
def stalled_process(facts: Facts, edge: Edge) -> Observations:
    """The times in which both ends answered the auditor, beside those of the other brokers, show it.

    No answer at all shows nothing: its address may lead elsewhere, or the auditor may not reach it.
    """
    parties = dict.fromkeys((edge.target, *edge.sources))
    prompt = []
    for party in parties:
        slowest = facts.slowest_ms.get(party)
        if slowest is None:
            continue
        timed_out = [read for read in facts.reads[party] if read.failure is ReadFailure.TIMEOUT]
        late = {read.target for read in timed_out if read.operation not in _BY_DISK}
        answering = {read.target for read in facts.reads[party] if read.timed}
        if slowest >= SLOW_MS and slowest >= TIMES * facts.usual_ms:
            yield fails(f"broker {party}", f"it took {slowest} ms for an answer, where {facts.usual_ms:.0f} ms are usual")
        elif late & answering:
            yield fails(f"broker {party}", "it answered some requests of the auditor in time, and others not")
        elif slowest <= PROMPT_MS:
            prompt.append(slowest)
    if len(prompt) == len(parties):
        who = "it" if len(parties) == 1 else brokers(parties)
        yield works(brokers(parties), f"{who} answered each request of the auditor within {max(*prompt, 1)} ms")
