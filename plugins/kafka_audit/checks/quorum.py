"""The metadata quorum as two looks show it: who leads, who follows, who lags. For checks of KRaft clusters."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from kafka_audit.checks.reads import is_refusal, last_reads
from kafka_audit.checks.rows import judge, kraft, looks
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.quorum import behind_ms, late
from kafka_audit.model.tables import BrokerView, FencedBroker, QuorumReplica, QuorumView, Snapshot, SourceRead

OPERATION = "DescribeQuorum"
ONCE = {"error": "in motion: seen in one look", "needs": "another audit"}
NO_QUORUM = "the cluster keeps its metadata in ZooKeeper"


def observer_of(view: QuorumView) -> str:
    """Return the resource that a view of the quorum belongs to: the broker or controller that was asked."""
    kind = "controller" if view.observer.startswith("controller") else "broker"
    name = view.observer.partition("@")[2] or view.observer.partition(":")[2]
    return f"{kind}/{name if view.node_id is None or '@' not in view.observer else view.node_id}"


class Look:
    """One look at the quorum."""

    def __init__(self, snapshot: Snapshot, sample: int | None) -> None:
        """Take the rows of a sample; none where there was no such look."""
        self.views = tuple(row for row in snapshot.of(QuorumView) if row.sample == sample)
        self._replicas = tuple(row for row in snapshot.of(QuorumReplica) if row.sample == sample)
        self.fenced: Mapping[int, frozenset[int]] = _by_fenced(snapshot, sample)
        self.answering = frozenset(row.broker_id for row in snapshot.of(BrokerView) if row.sample == sample)

    @cached_property
    def newest(self) -> QuorumView | None:
        """The newest word of a leader: the highest epoch, and there the furthest."""
        told = [one for one in self.views if one.leader_id >= 0 and one.leader_epoch is not None]
        return max(told, key=lambda one: (one.leader_epoch or 0, one.high_watermark or 0, one.observer), default=None)

    @cached_property
    def replicas(self) -> Mapping[int, QuorumReplica]:
        """Voters and observers as that leader has them."""
        if self.newest is None:
            return {}
        return {row.replica_id: row for row in self._replicas if row.observer == self.newest.observer}

    @cached_property
    def behind_ms(self) -> Mapping[int, int | None]:
        """For how long each replica has not been caught up."""
        return behind_ms(self.replicas.values())

    @cached_property
    def late(self) -> frozenset[int]:
        """Replicas that are behind."""
        return late(self.replicas.values())


def _by_fenced(snapshot: Snapshot, sample: int | None) -> Mapping[int, frozenset[int]]:
    rows = [row for row in snapshot.of(FencedBroker) if row.sample == sample]
    return {one: frozenset(row.broker_id for row in rows if row.fenced_id == one) for one in {row.fenced_id for row in rows}}


class Quorum:
    """The two newest looks."""

    def __init__(self, snapshot: Snapshot) -> None:
        """Keep the snapshot."""
        self.snapshot = snapshot
        self._looks = looks(snapshot)
        self.now = Look(snapshot, self._looks[0])

    @cached_property
    def before(self) -> Look | None:
        """The look before the newest, None where there was none."""
        return None if self._looks[1] is None else Look(self.snapshot, self._looks[1])

    @cached_property
    def reads(self) -> tuple[SourceRead, ...]:
        """How asking for the quorum ended, of each party."""
        return tuple(read for read in last_reads(self.snapshot) if read.operation == OPERATION)

    def unread(self) -> tuple[str, str]:
        """Return why nobody told of the quorum, and what would help."""
        failed = [read for read in self.reads if read.outcome == "failed"]
        refused = [read for read in failed if is_refusal(read.error)] or failed
        if not refused:
            return "nobody was asked for the quorum", "a broker of Kafka 3.3 or later that answers DescribeQuorum"
        first = refused[0]
        return f"DescribeQuorum was not answered: {first.error}", first.needs or f"an answer of {first.target} to DescribeQuorum"

    def gap(self, code: str, who: str) -> Iterator[Judgement]:
        """Yield the one judgement of a check that cannot judge: there is no quorum, or nobody told of its leader."""
        if not kraft(self.snapshot):
            yield judge(self.snapshot, code, "cluster", Status.NOT_APPLICABLE, who=who, reason=NO_QUORUM)
        elif self.now.newest is None:
            error, needs = self.unread()
            yield judge(self.snapshot, code, "cluster", Status.UNKNOWN, who=who, error=error, needs=needs)


def seconds(behind: int | None) -> str:
    """Return for how long a replica is behind, for a sentence."""
    return "never, under this leader" if behind is None else f"{round(behind / 1000)} s ago"
