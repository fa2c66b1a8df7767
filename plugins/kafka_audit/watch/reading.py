"""What one reading of a cluster says. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.model.read_failure import LASTING, ReadFailure
from kafka_audit.model.tables import (
    BOOTSTRAP,
    Migration,
    QuorumReplica,
    QuorumView,
    RegisteredBroker,
    RegisteredEndpoint,
    Registry,
    Row,
    ViewBroker,
)


class WatchOutcome(StrEnum):
    """What came of one question."""

    ANSWERED = "answered"
    FAILED = "failed"  # a fault of the cluster, or of the network in between
    UNKNOWN = "unknown"  # not asked, or refused for want of a right: it says nothing about the cluster


@dataclass(frozen=True, kw_only=True)
class WatchAnswer:
    """What came of one question, and why where it is no answer."""

    outcome: WatchOutcome
    error: str | None = None
    failure: ReadFailure | None = None

    @property
    def answered(self) -> bool:
        """Whether there was an answer."""
        return self.outcome is WatchOutcome.ANSWERED

    @property
    def failed(self) -> bool:
        """Whether an answer was due and did not come."""
        return self.outcome is WatchOutcome.FAILED


_OURS = LASTING | {
    *(ReadFailure.NO_TICKET, ReadFailure.NO_TOKEN, ReadFailure.UNSUPPORTED_VERSION, ReadFailure.THROTTLED),
    *(ReadFailure.NO_LOGIN, ReadFailure.NOT_DIALLED),
}
"""The auditor may not ask, or not now: this says nothing about the cluster."""


def failed_answer(error: ReadError) -> WatchAnswer:
    """Return what a failed read is: a fault, or nothing known where the auditor may not ask."""
    outcome = WatchOutcome.UNKNOWN if error.failure in _OURS else WatchOutcome.FAILED
    return WatchAnswer(outcome=outcome, error=clean_line(error.error), failure=error.failure)


ANSWERED = WatchAnswer(outcome=WatchOutcome.ANSWERED)
NOT_ASKED = WatchAnswer(outcome=WatchOutcome.UNKNOWN)


@dataclass(frozen=True, kw_only=True)
class ReadList:
    """A list of brokers in Metadata: all brokers that are known, and the first of the others. Views with equal ones share it."""

    digest: str
    rows: tuple[ViewBroker, ...] = field(repr=False)

    @cached_property
    def ids(self) -> frozenset[int]:
        """The ids of the brokers."""
        return frozenset(row.broker_id for row in self.rows)


@dataclass(frozen=True, kw_only=True)
class BrokerReading:
    """What one broker answered at one address.

    Attributes:
        broker_id: None for a bootstrap address of which it is not known who listens there.
        address: that was dialled.
        listener: on which it was asked.
        api_versions: what came of ApiVersions, which needs no login.
        metadata: of Metadata without topics.
        quorum: of DescribeQuorum, which a broker passes on to the quorum's leader.
        kraft: whether it runs in KRaft mode; None if it did not answer.
        vouched: the cluster file names its address, or it was registered in an earlier reading: its view counts before others.
        listed: the brokers in its Metadata.
        controller_id: -1 where it knows none; in KRaft mode it is a random broker and means nothing.
        led: what it says of the quorum's leader.
        applied: the offset of the newest record of the metadata log that it has applied (KRaft mode).
        process: what became of its process by its log, if it did not answer lately, and its start failed, or it ended by itself.
    """

    broker_id: int | None
    address: str
    listener: str = BOOTSTRAP
    api_versions: WatchAnswer = NOT_ASKED
    metadata: WatchAnswer = NOT_ASKED
    quorum: WatchAnswer = NOT_ASKED
    kraft: bool | None = None
    vouched: bool = False
    listed: ReadList | None = None
    cluster_id: str | None = None
    controller_id: int | None = None
    led: QuorumView | None = None
    applied: int | None = None
    process: str | None = None

    @property
    def lists(self) -> frozenset[int] | None:
        """Ids of the brokers in its Metadata, None without an answer."""
        return None if self.listed is None else self.listed.ids

    @property
    def observer(self) -> str:
        """Its name in tables."""
        return f"broker@{self.address}" if self.broker_id is None else f"broker:{self.broker_id}"


@dataclass(frozen=True, kw_only=True)
class ControllerReading:
    """What a KRaft controller of the cluster file answered; `led` as in `BrokerReading`, None where it does not lead."""

    address: str
    answer: WatchAnswer
    led: QuorumView | None = None


@dataclass(frozen=True, kw_only=True)
class ZookeeperReading:
    """What ZooKeeper holds; `answer` of all its znodes together.

    Attributes:
        rows: of the tables that ZooKeeper fills: the registry, brokers and their endpoints, a migration.
        unreadable: registered brokers whose registration could not be read as a whole, and why.
    """

    answer: WatchAnswer
    rows: tuple[Row, ...] = field(default=(), repr=False)
    unreadable: Mapping[int, WatchAnswer] = field(default_factory=dict)

    @cached_property
    def registry(self) -> Registry | None:
        """The cluster as a whole."""
        return next((row for row in self.rows if isinstance(row, Registry)), None)

    @cached_property
    def brokers(self) -> frozenset[int]:
        """The ids below /brokers/ids."""
        return frozenset(row.broker_id for row in self.rows if isinstance(row, RegisteredBroker)).union(self.unreadable)

    @cached_property
    def claimed(self) -> bool:
        """Whether KRaft controllers claim the cluster, which migrates."""
        return any(isinstance(row, Migration) and row.kraft_controller_id is not None for row in self.rows)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One reading.

    Attributes:
        at_ms: when it began.
        replicas: voters and observers of the metadata log, as the leader has them that answered last.
        endpoints: where each broker listens as far as it is known, longest known first.
    """

    at_ms: int
    brokers: tuple[BrokerReading, ...] = ()
    controllers: tuple[ControllerReading, ...] = ()
    zookeeper: ZookeeperReading | None = None
    replicas: tuple[QuorumReplica, ...] = field(default=(), repr=False)
    endpoints: Mapping[int, tuple[RegisteredEndpoint, ...]] = field(default_factory=dict)

    @property
    def kraft(self) -> bool:
        """Whether brokers that answer run in KRaft mode: most of them, so that one that claims it hides nothing of ZooKeeper."""
        known = [broker.kraft for broker in self.brokers if broker.kraft is not None]
        return 2 * sum(known) > len(known)
