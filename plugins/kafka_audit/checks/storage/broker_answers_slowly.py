from bisect import bisect_left
from collections.abc import Iterable, Mapping

from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.answers.broker_reads import BrokerReads
from kafka_audit.cluster.answers.reads import failed_texts
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import listing

_BY_MEMORY = ("ApiVersions", "Metadata", "DescribeCluster", "DescribeConfigs BROKER", "DescribeConfigs identity")
"""Reads that are the same for every broker, and that no disk can delay."""

_OPERATIONS = (*_BY_MEMORY, "DescribeLogDirs", "ListOffsets")
"""Reads that are the same for every broker."""

_TIMES, _LEAST_MS, _TWO = 10, 1000, 2
_STALL_MS = 2000


@check(code="KA508", severity=Severity.MEDIUM)
def broker_answers_slowly(view: ClusterView) -> Judgements:
    """A broker answers the auditor ten times more slowly than the other brokers."""
    reads = BrokerReads(view.last_reads, "Metadata")
    yield from nothing_asked(view, reads)
    if reads.brokers and len(reads.brokers) <= _TWO:
        yield view.not_applicable("cluster", "there are fewer than three brokers")
        return
    now, earlier = _Times(view.last_reads), _Times(view.last_reads_earlier)
    reads_of: dict[str, list[SourceRead]] = {}
    for read in view.of(SourceRead):
        reads_of.setdefault(read.observer, []).append(read)
    unanswered: dict[str, list[SourceRead]] = {}
    for read in filter(_is_unanswered, view.last_reads):
        unanswered.setdefault(read.observer, []).append(read)
    for broker in reads.brokers:
        facts: dict[str, object] = {"broker": broker, "who": f"broker {broker}"}
        slow = _slow(now, broker)
        stalls = _stalls(reads_of.get(f"broker:{broker}", ()), now, broker)
        failed = unanswered.get(f"broker:{broker}", [])
        if stalls:
            evidence = facts | {"slow": listing(stalls, 3), "samples": len(stalls)}
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence, severity=Severity.HIGH, confidence=Confidence.INFERRED)
        elif len(slow) >= _TWO:
            texts = [f"{operation} took {ms} ms, {usual} ms elsewhere" for operation, (ms, usual) in slow.items()]
            confidence = Confidence.INFERRED if len(_slow(earlier, broker)) >= _TWO else Confidence.SUSPECTED
            evidence = facts | {"slow": listing(texts, 3), "operations": tuple(slow)}
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence, confidence=confidence)
        elif failed:
            yield view.judge(f"broker/{broker}", Status.UNKNOWN, {**facts, **failed_texts(failed)})
        elif alone := _not_compared(now, broker):
            error = f"it took {now.by_broker[broker][alone[0]]} ms for {alone[0]}, which fewer than two other brokers answered"
            yield view.unknown(f"broker/{broker}", error, f"{listing(alone)} of the other brokers", facts)
        else:
            yield view.judge(f"broker/{broker}", Status.PASS, facts)


def _is_unanswered(read: SourceRead) -> bool:
    return read.operation in _OPERATIONS and read.outcome == "failed"


class _Times:
    """Milliseconds of what was answered or refused; the fastest address of a broker counts.

    Attributes:
        by_broker: by broker and operation.
    """

    def __init__(self, reads: Iterable[SourceRead]) -> None:
        """Sort the reads."""
        self.by_broker: dict[int, dict[str, int]] = {}
        for read in reads:
            name = read.observer.removeprefix("broker:")
            if name.isdigit() and read.timed and read.operation in _OPERATIONS:
                mine = self.by_broker.setdefault(int(name), {})
                mine[read.operation] = min(read.elapsed_ms, mine.get(read.operation, read.elapsed_ms))
        self._sorted: dict[str, list[int]] = {}
        for took in self.by_broker.values():
            for operation, ms in took.items():
                self._sorted.setdefault(operation, []).append(ms)
        for times in self._sorted.values():
            times.sort()

    def usual(self, operation: str, broker: int) -> float | None:
        """Return the median of all other brokers; None where fewer than two were asked."""
        times, own = self._sorted.get(operation, []), self.by_broker.get(broker, {}).get(operation)
        without = len(times) if own is None else bisect_left(times, own)  # the place that is passed over
        others = len(times) - (own is not None)
        if others < _TWO:
            return None
        low, high = (times[place + (place >= without)] for place in ((others - 1) // 2, others // 2))
        return (low + high) / 2


def _slow(times: _Times, broker: int) -> Mapping[str, tuple[int, int]]:
    """Return the operations that a broker was slow in, with its time and the others' median."""
    found = {}
    for operation, ms in times.by_broker.get(broker, {}).items():
        usual = times.usual(operation, broker)
        if usual is not None and ms >= _LEAST_MS and ms >= _TIMES * usual:
            found[operation] = (ms, round(usual))
    return found


def _not_compared(times: _Times, broker: int) -> list[str]:
    """Return the operations that a broker took long for, and that too few others answered to compare with."""
    own = times.by_broker.get(broker, {})
    return sorted(operation for operation, ms in own.items() if ms >= _LEAST_MS and times.usual(operation, broker) is None)


def _stalls(reads: Iterable[SourceRead], times: _Times, broker: int) -> list[str]:
    """Return how long a broker stood still in each of two samples or more; nothing where it was slow in fewer."""
    usual = {operation: ms for operation in _BY_MEMORY if (ms := times.usual(operation, broker)) is not None}
    found: dict[int, SourceRead] = {}
    for read in reads:
        late = read.timed or read.failure is ReadFailure.TIMEOUT
        if read.operation in usual and late:
            ms = read.elapsed_ms
            if ms >= _STALL_MS and ms >= _TIMES * usual[read.operation] and ms > _elapsed(found.get(read.sample)):
                found[read.sample] = read
    if len(found) < _TWO or not any(read.timed for read in found.values()):
        return []
    return [
        f"{read.operation} {'took' if read.timed else 'got no answer in'} {read.elapsed_ms} ms in one sample, "
        f"{usual[read.operation]:.0f} ms elsewhere"
        for _, read in sorted(found.items())
    ]


def _elapsed(read: SourceRead | None) -> int:
    return 0 if read is None else read.elapsed_ms
