"""What row checks ask of brokers' own reads: who was asked, and why one did not tell."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks.reads import failed_texts, last_reads
from kafka_audit.checks.rows import judge
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import Snapshot, SourceRead

LOG_DIRS, LIST_OFFSETS = "DescribeLogDirs", "ListOffsets"
STORAGE_ERROR = 56
"""KAFKA_STORAGE_ERROR, Kafka's code for whatever lies on a dead disk."""

_CONNECTS = "ApiVersions"


class BrokerReads:
    """The last reads of one operation, by broker."""

    def __init__(self, snapshot: Snapshot, operation: str) -> None:
        """Sort the reads of registered brokers."""
        self._operation = operation
        self._reads: dict[int, list[SourceRead]] = {}
        for read in last_reads(snapshot):
            name = read.observer.removeprefix("broker:")
            if read.observer.startswith("broker:") and name.isdigit():
                self._reads.setdefault(int(name), []).append(read)

    @property
    def brokers(self) -> tuple[int, ...]:
        """Brokers that were asked anything, in order."""
        return tuple(sorted(self._reads))

    def answered(self, broker: int) -> bool:
        """Tell whether the broker answered the operation."""
        return any(read.operation == self._operation and read.outcome == "answered" for read in self._reads.get(broker, ()))

    def gap(self, broker: int) -> Mapping[str, str] | None:
        """Return error and what is needed where the operation failed, or the broker answered nothing; else None."""
        if self.answered(broker):
            return None
        reads = self._reads.get(broker, ())
        failed = [read for read in reads if read.operation == self._operation and read.outcome == "failed"]
        if not failed and not any(read.operation == _CONNECTS and read.outcome == "answered" for read in reads):
            failed = [read for read in reads if read.outcome == "failed"]
        return failed_texts(failed) if failed else None

    def nobody(self, snapshot: Snapshot, code: str) -> Iterator[Judgement]:
        """Yield the one judgement of a check of brokers where none was asked."""
        if not self._reads:
            needs = "a ZooKeeper that answers, or bootstrap addresses of brokers that do"
            yield judge(snapshot, code, "cluster", Status.UNKNOWN, who="any broker", error="no broker was asked", needs=needs)


def named(partitions: Mapping[tuple[str, int], object] | set[tuple[str, int]], limit: int = 10) -> str:
    """Return the first partitions as `topic-partition`, sorted."""
    return ", ".join(f"{topic}-{number}" for topic, number in sorted(partitions)[:limit])
