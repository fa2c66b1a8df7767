"""Reads of one operation that brokers were asked themselves: which of them answered, and why one did not."""

from collections.abc import Collection, Iterable, Mapping

from kafka_audit.cluster.answers.reads import failed_texts
from kafka_audit.differences.tables import LISTED
from kafka_audit.model.tables import LeadershipAnswer, SourceRead

LOG_DIRS, LIST_OFFSETS = "DescribeLogDirs", "ListOffsets"
STORAGE_ERROR = 56
"""KAFKA_STORAGE_ERROR, Kafka's code for whatever lies on a dead disk."""

DENIALS = {3: "UNKNOWN_TOPIC_OR_PARTITION", 6: "NOT_LEADER_OR_FOLLOWER", 74: "FENCED_LEADER_EPOCH", 75: "UNKNOWN_LEADER_EPOCH"}
"""What a leader answers that does not know that it leads a partition."""

_CONNECTS = "ApiVersions"


class BrokerReads:
    """The last reads of one operation, by broker."""

    def __init__(self, reads: Iterable[SourceRead], operation: str) -> None:
        """Sort reads, each as it ended when it was asked last, by registered broker."""
        self._operation = operation
        self._reads: dict[int, list[SourceRead]] = {}
        for read in reads:
            name = read.observer.removeprefix("broker:")
            if read.observer.startswith("broker:") and name.isdigit():
                self._reads.setdefault(int(name), []).append(read)

    @property
    def brokers(self) -> tuple[int, ...]:
        """Brokers that were asked anything, in order."""
        return tuple(sorted(self._reads))

    def answered(self, broker: int) -> bool:
        """Return whether the broker answered the operation."""
        return any(read.operation == self._operation and read.outcome == "answered" for read in self._reads.get(broker, ()))

    def failure(self, broker: int) -> Mapping[str, str] | None:
        """Return error and what is needed where the broker was asked and the operation failed; earlier versions did not ask."""
        asked = any(read.operation == self._operation for read in self._reads.get(broker, ()))
        return self.gap(broker) if asked else None

    def gap(self, broker: int) -> Mapping[str, str] | None:
        """Return error and what is needed where the operation failed, or the broker answered nothing; else None."""
        if self.answered(broker):
            return None
        reads = self._reads.get(broker, ())
        failed = [read for read in reads if read.operation == self._operation and read.outcome == "failed"]
        if not failed and not any(read.operation == _CONNECTS and read.outcome == "answered" for read in reads):
            failed = [read for read in reads if read.outcome == "failed"]
        return failed_texts(failed) if failed else None


def first_partitions(partitions: Collection[tuple[str, int]]) -> tuple[str, ...]:
    """Return the first ten partitions as `topic-partition`, sorted."""
    return tuple(f"{topic}-{number}" for topic, number in sorted(partitions)[:LISTED])


def denies(row: LeadershipAnswer) -> bool:
    """Return whether the registered leader of a partition rejects a request for it."""
    return row.asked_as == "leader" and row.error in DENIALS


def denied_twice(
    newest: Iterable[LeadershipAnswer], before: Iterable[LeadershipAnswer]
) -> Mapping[int, Mapping[tuple[str, int], int]]:
    """Return by broker the partitions whose leadership it denies in both samples, in one leader epoch, each with its error."""
    earlier = {(row.broker_id, row.topic, row.partition, row.leader_epoch) for row in before if denies(row)}
    found: dict[int, dict[tuple[str, int], int]] = {}
    for row in newest:
        if denies(row) and (row.broker_id, row.topic, row.partition, row.leader_epoch) in earlier:
            found.setdefault(row.broker_id, {})[row.topic, row.partition] = row.error
    return found
