"""What one reading of a cluster says. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kafka_audit.model.tables import RegisteredEndpoint


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

    @property
    def answered(self) -> bool:
        """Whether there was an answer."""
        return self.outcome is WatchOutcome.ANSWERED

    @property
    def failed(self) -> bool:
        """Whether an answer was due and did not come."""
        return self.outcome is WatchOutcome.FAILED


ANSWERED = WatchAnswer(outcome=WatchOutcome.ANSWERED)
NOT_ASKED = WatchAnswer(outcome=WatchOutcome.UNKNOWN)


@dataclass(frozen=True, kw_only=True)
class BrokerReading:
    """What one broker answered at one address.

    Attributes:
        broker_id: None for a bootstrap address of which it is not known who listens there.
        address: that was dialled.
        api_versions: what came of ApiVersions, which needs no login.
        metadata: of Metadata without topics.
        quorum: of DescribeQuorum, which a broker passes on to the quorum's leader.
        kraft: whether it runs in KRaft mode; None if it did not answer.
        vouched: the cluster file names its address, or it was registered in an earlier reading: its view counts before others.
        lists: ids of the brokers in its Metadata; of those that are not known, the first only.
        controller_id: -1 where it knows none; in KRaft mode it is a random broker and means nothing.
        leader: the quorum's, -1 where there is none.
        leader_epoch: of that leader.
    """

    broker_id: int | None
    address: str
    api_versions: WatchAnswer = NOT_ASKED
    metadata: WatchAnswer = NOT_ASKED
    quorum: WatchAnswer = NOT_ASKED
    kraft: bool | None = None
    vouched: bool = False
    lists: frozenset[int] | None = None
    cluster_id: str | None = None
    controller_id: int | None = None
    leader: int | None = None
    leader_epoch: int | None = None


@dataclass(frozen=True, kw_only=True)
class ControllerReading:
    """What a KRaft controller of the cluster file answered; `leader` as in `BrokerReading`."""

    address: str
    answer: WatchAnswer
    leader: int | None = None


@dataclass(frozen=True, kw_only=True)
class ZookeeperReading:
    """What ZooKeeper holds; `answer` of all its znodes together.

    Attributes:
        brokers: ids below /brokers/ids.
        controller: in /controller, None where there is none.
        controller_epoch: in /controller_epoch.
        unreadable: registered brokers whose registration could not be read as a whole, and why.
        claimed: KRaft controllers claim the cluster, which migrates: ZooKeeper is no longer the reference.
    """

    answer: WatchAnswer
    brokers: frozenset[int] = frozenset()
    controller: int | None = None
    controller_epoch: int | None = None
    cluster_id: str | None = None
    unreadable: Mapping[int, WatchAnswer] = field(default_factory=dict)
    claimed: bool = False


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One reading; `at_ms` is when it began, `endpoints` where each broker listens as far as it is known, longest known first."""

    at_ms: int
    brokers: tuple[BrokerReading, ...] = ()
    controllers: tuple[ControllerReading, ...] = ()
    zookeeper: ZookeeperReading | None = None
    endpoints: Mapping[int, tuple[RegisteredEndpoint, ...]] = field(default_factory=dict)

    @property
    def kraft(self) -> bool:
        """Whether brokers that answer run in KRaft mode: most of them, so that one that claims it hides nothing of ZooKeeper."""
        known = [broker.kraft for broker in self.brokers if broker.kraft is not None]
        return 2 * sum(known) > len(known)
