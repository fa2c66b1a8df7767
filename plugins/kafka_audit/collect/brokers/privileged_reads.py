"""Reads that require Describe on the cluster: ACLs, log directories, reassignments, the quorum.

A refusal of DescribeAcls or ListPartitionReassignments is an ERROR in the broker's log, so these are asked only where the right
is known to be there: by the own operations of DescribeCluster, and where a broker has no such API (before 2.8) by
DescribeLogDirs, which refuses without a word.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from kafka.protocol.admin import (
    DescribeAclsRequest,
    DescribeAclsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeQuorumRequest,
    ListPartitionReassignmentsRequest,
)

from kafka_audit.clients.protocol.conversation import Conversation, demand
from kafka_audit.clients.protocol.primitive_types import WireError
from kafka_audit.clients.protocol.raw_requests import RawRequest
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import answers, log_dirs
from kafka_audit.collect.brokers.acls import AclBook, AclsRefusal
from kafka_audit.collect.brokers.log_dirs import DiskBook, ListedLogDir
from kafka_audit.collect.brokers.quorum import QUORUM, quorum
from kafka_audit.collect.rows.source_reads import CLUSTER_DENIED, MAY_DESCRIBE, NOT_LISTED, not_tried
from kafka_audit.model.read_failure import KAFKA_ERRORS, ReadFailure
from kafka_audit.model.tables import AclHolder, LogDir, LogDirReplica, Reassignment, Row

ACLS, LOG_DIRS, REASSIGNMENTS = "DescribeAcls", "DescribeLogDirs", "ListPartitionReassignments"

_DESCRIBE_OPERATION = 8
_ANY = 1
_SECURITY_DISABLED = 54
_REPLICAS_OF_A_ROW = 32
_UNKNOWN = -1  # what Kafka says of sizes and lags that it does not know
_NEEDS = {CLUSTER_DENIED: MAY_DESCRIBE, "NOT_CONTROLLER": "an answer from the controller"}
_T = TypeVar("_T")


class Read(Protocol):
    """Asks one question, whose outcome becomes a row."""

    def __call__(self, operation: str, question: Callable[[], _T]) -> _T | None: ...  # noqa: D102 -- see above


class ProtectedReads:
    """Asks one broker, at the connection that is open."""

    def __init__(self, conversation: Conversation, target: Target, sample: int, read: Read, timeout_s: float) -> None:
        """Take the conversation; `read` records the result of each read, and the broker receives `timeout_s` too."""
        self._conversation = conversation
        self._target = target
        self._sample = sample
        self._read = read
        self._timeout_s = timeout_s
        self._stop: ReadError | None = None
        self._is_denied = False  # DescribeLogDirs, by the broker
        self.rows: list[Row] = []

    def ask(self, operations: frozenset[int] | None, acls: AclBook, disks: DiskBook, *, lists_reassignments: bool) -> None:
        """Ask what the own rights allow; the rest are failed reads.

        Args:
            operations: own operations on the cluster (empty: not even Describe), None if the broker did not report them.
            acls: where sets of ACLs go.
            disks: where the replicas of log dirs go.
            lists_reassignments: whether this is the broker to ask for reassignments.
        """
        if operations is not None and _DESCRIBE_OPERATION not in operations:
            self._stop = not_tried(NOT_LISTED, MAY_DESCRIBE, lacks=True)
        if self._conversation.version(DescribeLogDirsRequest) is not None:
            rows = self._read(LOG_DIRS, lambda: self._log_dirs(disks))
            self.rows += rows or ()
            if operations is None and rows is None and self._is_denied:
                self._stop = not_tried("DescribeLogDirs was denied, which requires the same right", MAY_DESCRIBE, lacks=True)
            elif operations is None and rows is None:
                self._stop = not_tried("without DescribeLogDirs the auditor's rights are unknown", f"an answer to {LOG_DIRS}")
        elif operations is None:
            self._stop = not_tried("this version does not report the auditor's rights", "Kafka 1.0 or later")
        if self._conversation.version(DescribeAclsRequest) is not None:
            self.rows += self._read(ACLS, lambda: self._acls(acls)) or ()
        if lists_reassignments and self._conversation.version(ListPartitionReassignmentsRequest) is not None:
            self.rows += self._read(REASSIGNMENTS, self._reassignments) or ()

    def ask_quorum(self) -> tuple[Row, ...]:
        """Ask for the metadata quorum, after all else: a broker that is cut from its controllers answers too late."""
        return self._read(QUORUM, self._quorum) or () if self._conversation.version(DescribeQuorumRequest) is not None else ()

    def refuse(self, error: ReadError) -> None:
        """Give every read of an offered API the same failed row."""
        self._stop = error
        offered = {LOG_DIRS: DescribeLogDirsRequest, ACLS: DescribeAclsRequest, QUORUM: DescribeQuorumRequest}
        for operation, request in offered.items():
            if self._conversation.version(request) is not None:
                self._read(operation, self._go_on)

    def _go_on(self) -> None:
        if self._stop is not None:
            raise self._stop

    def _quorum(self) -> tuple[Row, ...]:
        self._go_on()
        return quorum(self._conversation, self._sample, self._target.observer, self._target.broker_id)

    def _log_dirs(self, disks: DiskBook) -> tuple[Row, ...]:
        self._go_on()
        version = min(self._conversation.version(DescribeLogDirsRequest) or 0, log_dirs.HIGHEST)
        request = DescribeLogDirsRequest(version=version, topics=None)
        raw = RawRequest(request, DescribeLogDirsResponse, DescribeLogDirsRequest.API_KEY, version)
        body = bytes(self._conversation.ask(raw))
        try:
            answer = log_dirs.decode_log_dirs_answer(body, version)
        except WireError as error:
            raise ReadError(ReadFailure.UNREADABLE, str(error)) from error
        self._conversation.note_throttle(answer.throttle_ms)
        # A broker without a directory does not run.
        self._is_denied = KAFKA_ERRORS.get(answer.error) is ReadFailure.NOT_AUTHORIZED or not (answer.error or answer.log_dirs)
        demand(answer.error, None, _NEEDS)
        if not answer.log_dirs:
            raise ReadError(
                ReadFailure.NOT_AUTHORIZED, "an empty list, which this version returns if access is denied", MAY_DESCRIBE
            )
        answers.once((log_dir.path for log_dir in answer.log_dirs), "a log dir")
        self._conversation.add_rows(sum(1 + log_dir.future for log_dir in answer.log_dirs))
        moving = (row for log_dir in answer.log_dirs for row in self._future_replicas(log_dir))
        digests = disks.add(answer.log_dirs, self._conversation.budget)
        return (*map(self._log_dir, answer.log_dirs, digests), *moving)

    def _log_dir(self, listed: ListedLogDir, replicas_digest: str | None) -> LogDir:
        return LogDir(
            sample=self._sample,
            observer=self._target.observer,
            broker_id=self._target.broker_id,
            path=listed.path,
            error=listed.error,
            total_bytes=_known(listed.total_bytes, "bytes of a log dir"),
            usable_bytes=_known(listed.usable_bytes, "usable bytes of a log dir"),
            replicas=listed.replicas,
            replica_bytes=listed.replica_bytes,
            offsets_bytes=listed.offsets_bytes,
            replicas_digest=replicas_digest,
        )

    def _future_replicas(self, log_dir: ListedLogDir) -> Iterator[LogDirReplica]:
        for topic, partition, size_bytes, offset_lag in log_dir.future_replicas():
            yield LogDirReplica(
                sample=self._sample,
                observer=self._target.observer,
                broker_id=self._target.broker_id,
                path=log_dir.path,
                topic=topic,
                partition=answers.at_least(0, partition, f"a partition of {topic}"),
                size_bytes=answers.at_least(_UNKNOWN, size_bytes, f"bytes of a replica of {topic}"),
                offset_lag=answers.at_least(_UNKNOWN, offset_lag, f"offsets that a replica of {topic} is behind"),
            )

    def _acls(self, book: AclBook) -> tuple[Row, ...]:
        self._go_on()
        version = self._conversation.version(DescribeAclsRequest) or 0
        request = DescribeAclsRequest(
            version=version,
            resource_type_filter=_ANY,
            resource_name_filter=None,
            pattern_type_filter=_ANY,
            principal_filter=None,
            host_filter=None,
            operation=_ANY,
            permission_type=_ANY,
        )
        body = bytes(self._conversation.ask(RawRequest(request, DescribeAclsResponse, DescribeAclsRequest.API_KEY, version)))
        try:
            found = book.add(body, version, self._conversation.budget)
        except WireError as error:
            raise ReadError(ReadFailure.UNREADABLE, str(error)) from error
        if isinstance(found, AclsRefusal):
            if found.code == _SECURITY_DISABLED:
                return ()  # a definite no: this broker has no authorizer
            demand(found.code, found.message, _NEEDS)
            return ()
        named, count = found
        observer, broker = self._target.observer, self._target.broker_id
        return (AclHolder(sample=self._sample, observer=observer, broker_id=broker, acls_digest=named, acls=count),)

    def _reassignments(self) -> tuple[Row, ...]:
        self._go_on()
        timeout_ms = round(self._timeout_s * 1000)
        answer = self._conversation.ask(ListPartitionReassignmentsRequest(version=0, timeout_ms=timeout_ms, topics=None))
        demand(answer.error_code, answer.error_message, _NEEDS)
        self._conversation.add_rows(sum(map(_weight, _moves(answer))))
        return tuple(
            Reassignment(
                sample=self._sample,
                observer=self._target.observer,
                topic=answers.checked_name(topic.name, "a topic"),
                partition=answers.at_least(0, partition.partition_index, f"a partition of {topic.name}"),
                replicas=tuple(answers.each(partition.replicas, f"replicas of {topic.name}")),
                adding=tuple(answers.each(partition.adding_replicas, f"replicas that {topic.name} gets")),
                removing=tuple(answers.each(partition.removing_replicas, f"replicas that {topic.name} loses")),
            )
            for topic, partition in _moves(answer)
        )


def _moves(answer: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 -- kafka-python's messages are untyped
    """Yield the partitions that are reassigned, each behind its topic."""
    for topic in answers.each(answer.topics, "topics that are reassigned"):
        for partition in answers.each(topic.partitions, "partitions that are reassigned"):
            yield topic, partition


def _weight(move: tuple[Any, Any]) -> int:
    """Return how many rows a reassignment counts as: one, and more where it lists more replicas than any."""
    _, partition = move
    return (
        1
        + sum(len(replicas or ()) for replicas in (partition.replicas, partition.adding_replicas, partition.removing_replicas))
        // _REPLICAS_OF_A_ROW
    )


def _known(number: int | None, what: str) -> int | None:
    """Return a size, None where the broker does not know or report it."""
    return None if number is None or number == _UNKNOWN else answers.at_least(0, number, what)
