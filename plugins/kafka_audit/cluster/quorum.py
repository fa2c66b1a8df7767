"""The metadata quorum as two samples show it: who leads, who follows, who lags."""

from collections.abc import Mapping
from functools import cached_property

from kafka_audit.cluster.samples import Samples
from kafka_audit.model.quorum import behind_ms, late, newest_view, unapplied
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    BrokerFeature,
    BrokerView,
    ControllerProbe,
    FencedBroker,
    QuorumReplica,
    QuorumView,
    QuorumVoter,
    RegisteredController,
    SourceRead,
)

OPERATION = "DescribeQuorum"
NO_TIMES = ("this version reports no timestamps", "DescribeQuorum version 1 (Kafka 3.3)")
"""Why it is not known who lags, and what the audit needs."""


def observer_of(view: QuorumView) -> str:
    """Return the resource that a view of the quorum belongs to: the broker or controller that was asked."""
    kind = "controller" if view.observer.startswith("controller") else "broker"
    name = view.observer.partition("@")[2] or view.observer.partition(":")[2]
    return f"{kind}/{name if view.node_id is None or '@' not in view.observer else view.node_id}"


class QuorumSample:
    """What one sample shows of the quorum."""

    def __init__(self, samples: Samples, sample: int | None) -> None:
        """Take the rows of a sample; none where there was no such sample."""
        self.views = samples.at(QuorumView, sample)
        self._replicas = samples.at(QuorumReplica, sample)
        self._addresses = samples.at(QuorumVoter, sample)
        self.fenced: Mapping[int, frozenset[int]] = _by_fenced(samples.at(FencedBroker, sample))
        self.registered = frozenset(row.node_id for row in samples.at(RegisteredController, sample))
        self.probed = frozenset(row.node_id for row in samples.at(ControllerProbe, sample) if row.node_id is not None)
        self.answering = frozenset(row.broker_id for row in samples.at(BrokerView, sample))

    @cached_property
    def newest(self) -> QuorumView | None:
        """The newest word of a leader."""
        return newest_view(self.views)

    @cached_property
    def replicas(self) -> Mapping[int, QuorumReplica]:
        """Voters and observers as that leader has them.

        A node whose disk was replaced is there twice, with either directory: the voter counts, else the one that fetched last.
        """
        rows = sorted(self.listed, key=lambda row: (row.voter, row.last_caught_up_ms or 0))
        return {row.replica_id: row for row in rows}

    @cached_property
    def listed(self) -> tuple[QuorumReplica, ...]:
        """All that the leader lists, in its order."""
        return tuple(row for row in self._replicas if self.newest is not None and row.observer == self.newest.observer)

    @cached_property
    def addresses(self) -> tuple[QuorumVoter, ...]:
        """Where that leader has voters reached; none before Kafka 3.9."""
        return tuple(row for row in self._addresses if self.newest is not None and row.observer == self.newest.observer)

    @cached_property
    def voters(self) -> tuple[int, ...]:
        """The ids of the voters, in order."""
        return tuple(sorted(node for node, row in self.replicas.items() if row.voter))

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether the voters are in the metadata log (kraft.version 1), and not in the configuration."""
        return any(row.voter and row.directory_id is not None for row in self.listed)

    @cached_property
    def left(self) -> frozenset[int]:
        """Controllers that are registered, and neither vote, follow nor answer; none where the quorum was not read."""
        return self.registered - self.replicas.keys() - self.probed if self.voters else frozenset()

    @cached_property
    def behind_ms(self) -> Mapping[int, int | None]:
        """For how long each replica has not been caught up."""
        return behind_ms(self.replicas.values())

    @cached_property
    def late(self) -> frozenset[int]:
        """Replicas that are behind."""
        return late(self.replicas.values())

    @property
    def leaderless(self) -> bool:
        """Whether all observers that answer name no leader."""
        return bool(self.views) and all(view.leader_id < 0 for view in self.views)


def _by_fenced(rows: tuple[FencedBroker, ...]) -> Mapping[int, frozenset[int]]:
    return {
        broker: frozenset(row.broker_id for row in rows if row.fenced_id == broker) for broker in {row.fenced_id for row in rows}
    }


class Quorum:
    """The quorum in the newest sample and in the one before."""

    def __init__(self, samples: Samples) -> None:
        """Keep the snapshot."""
        self._samples = samples
        self.now = QuorumSample(samples, samples.numbers[0])

    @cached_property
    def before(self) -> QuorumSample | None:
        """The sample before the newest, None where there was none."""
        number = self._samples.numbers[1]
        return None if number is None else QuorumSample(self._samples, number)

    @cached_property
    def commits_nothing(self) -> bool:
        """Whether there was an election between the samples, and the high watermark is what it was.

        Each leader begins with a record of its own, and from Kafka 3.3 on it writes one every 500 ms.
        """
        before, now = None if self.before is None else self.before.newest, self.now.newest
        if before is None or now is None or before.high_watermark is None or now.high_watermark is None:
            return False
        return (now.leader_epoch or 0) > (before.leader_epoch or 0) and now.high_watermark <= before.high_watermark

    @cached_property
    def lagging(self) -> frozenset[int]:
        """Replicas that are behind in both samples."""
        return frozenset() if self.before is None else self.now.late & self.before.late

    @cached_property
    def reads(self) -> tuple[SourceRead, ...]:
        """How asking for the quorum ended, of each party."""
        return tuple(read for read in self._samples.last_reads if read.operation == OPERATION)

    @cached_property
    def unapplied(self) -> Mapping[int, int]:
        """Brokers that fetched what was committed in the sample before and did not apply it, with the offset they applied."""
        before = None if self.before is None else self.before.newest
        if before is None or self.now.newest is None:
            return {}
        applied: dict[int, int] = {}
        for row in self._samples.of(BrokerFeature):  # of both samples, without their numbers
            if row.finalized_epoch is not None and row.broker_id in self.now.answering:
                applied[row.broker_id] = max(row.finalized_epoch, applied.get(row.broker_id, 0))
        stale = unapplied(applied, self.now.replicas, before.high_watermark, self.now.newest.high_watermark)
        return {broker: applied[broker] for broker in sorted(stale)}

    @cached_property
    def list_no_broker(self) -> tuple[str, ...]:
        """The addresses at which views were given, if those of both samples list no broker: so it is where all are fenced."""
        now, before = (self._samples.at(BrokerView, number) for number in self._samples.numbers)
        empty = all(row.brokers_listed == 0 and row.controller_id == -1 for row in (*now, *before))
        return tuple(sorted({row.address for row in now})) if now and before and empty else ()

    @cached_property
    def unanswered(self) -> tuple[SourceRead, ...]:
        """The reads of all brokers, if each of them gives its view and none an answer of a leader; nothing otherwise."""
        asked = [read for read in self.reads if read.observer.startswith("broker")]
        silent = [read for read in asked if read.outcome == "failed" and read.failure is not ReadFailure.NOT_AUTHORIZED]
        viewed = {row.observer for row in self._samples.at(BrokerView, self._samples.numbers[0])}
        return tuple(silent) if len(silent) == len(asked) and viewed.issuperset(read.observer for read in silent) else ()

    @property
    def without_leader(self) -> bool:
        """Whether a node that answered knows no leader."""
        return any(view.leader_id < 0 for view in self.now.views)

    def unread(self) -> tuple[str, str]:
        """Return why no observer reported the quorum, and what the audit needs."""
        if self.without_leader:
            return "no leader of the metadata quorum is known to those that answered", "an elected leader"
        failed = [read for read in self.reads if read.outcome == "failed"]
        refused = [read for read in failed if read.failure is ReadFailure.NOT_AUTHORIZED] or failed
        if not refused:
            return "no broker or controller was read for the quorum", "a broker of Kafka 3.3 or later that answers DescribeQuorum"
        first = refused[0]
        needs = first.needs or f"an answer from {first.target} to DescribeQuorum"
        return f"DescribeQuorum was not answered: {first.error}", needs


def seconds(behind: int | None) -> str:
    """Return for how long a replica is behind, for a sentence."""
    return "never under this leader" if behind is None else f"{round(behind / 1000)} s ago"
