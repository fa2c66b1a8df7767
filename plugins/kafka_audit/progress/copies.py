"""Replicas that are copied: those that a reassignment adds, and those that are out of the ISR.

The measure is their size, by DescribeLogDirs of these replicas. Old snapshots have the size of all replicas of a broker instead,
which other partitions change too, so that only the same size decides. What is left is what the largest replica has more.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from kafka_audit.cluster.answers.broker_reads import STORAGE_ERROR
from kafka_audit.cluster.throttles import throttle_rates, throttled_topics
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import ReassignedState
from kafka_audit.model.tables import CopiedReplica, LeadershipAnswer, Reassignment
from kafka_audit.model.text import brokers
from kafka_audit.progress.rule import Observed

THROTTLE = "a replication throttle"
_SIZES = "DescribeLogDirs"
_NEEDS = f"{_SIZES} in two audits (Describe on Cluster)"
_Partition = tuple[str, int]
_Sizes = Mapping[_Partition, Mapping[int, int]]


class Copies:
    """The sizes of replicas in the newest sample, in the sample before, and in the previous snapshot."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the view; nothing is read yet."""
        self._view = view

    def reassignments(self) -> Iterator[Observed]:
        """Yield a row for each partition under reassignment."""
        earlier = {(row.topic, row.partition, row.adding, row.removing) for row in self._view.earlier(Reassignment)}
        for row in self._view.differences.of(ReassignedState):
            pending = tuple(broker for broker in row.adding if broker not in (row.isr or ()))
            was_there = (row.topic, row.partition, row.adding, row.removing) in earlier
            yield self._observed(
                "reassignment",
                (f"topic/{row.topic}/partition/{row.partition}", *(f"broker/{broker}" for broker in row.adding)),
                f"reassignment of {row.topic}-{row.partition}{f' to {brokers(row.adding)}' if row.adding else ''}",
                [(row.topic, row.partition)],
                row.adding,
                was_there=was_there or row.repeated,
                moved=was_there and not row.repeated and row.isr is not None,
                gone=row.unregistered,
                pending=pending,
            )

    def catch_ups(self) -> Iterator[Observed]:
        """Yield a row for each leader and registered follower that is out of its ISRs; what lies offline catches up with none."""
        offline = {
            (row.broker_id, row.topic, row.partition) for row in self._view.newest(LeadershipAnswer) if row.error == STORAGE_ERROR
        }
        pairs: dict[tuple[int, int], list[_Partition]] = {}
        lasting: dict[tuple[int, int], bool] = {}
        for state in self._view.partitions.of_kind("under_replicated"):
            if state.leader is None or state.leader < 0:
                continue
            for follower in state.missing:
                if follower not in state.unregistered and (follower, state.topic, state.partition) not in offline:
                    pair = (follower, state.leader)
                    pairs.setdefault(pair, []).append((state.topic, state.partition))
                    lasting[pair] = lasting.get(pair, True) and follower in (state.lasting or ())
        for (follower, leader), partitions in sorted(pairs.items()):
            name = f"{len(partitions)} partitions" if len(partitions) > 1 else f"{partitions[0][0]}-{partitions[0][1]}"
            yield self._observed(
                "catch_up",
                (f"broker/{follower}", f"broker/{leader}"),
                f"catch-up of broker {follower} with broker {leader} in {name}",
                partitions,
                (follower,),
                was_there=lasting[follower, leader],
            )

    def _observed(  # noqa: PLR0913 -- what the two kinds differ in
        self,
        kind: str,
        parties: tuple[str, ...],
        what: str,
        partitions: Collection[_Partition],
        targets: tuple[int, ...],
        *,
        was_there: bool,
        moved: bool = False,
        gone: tuple[int, ...] = (),
        pending: tuple[int, ...] | None = None,
    ) -> Observed:
        now, sample, snapshot = (_held(sizes, partitions, targets) for sizes in self._sizes)
        whole, *wholes_before = (_whole(sizes, partitions, targets) for sizes in self._sizes)
        is_exact = now is not None and (snapshot is not None or not was_there)
        if not is_exact:
            now, snapshot = self._coarse(targets if pending is None else pending)
            sample = whole = None
        if gone:  # who is not there gets nothing; for how long, only an audit without it says
            now, sample = 0, None
            snapshot = None if self._view.brokers_earlier.keys() & {*gone} else 0
        earlier, whole_before = (snapshot, wholes_before[1]) if snapshot is not None else (sample, wholes_before[0])
        return Observed(
            kind=kind,
            parties=parties,
            what=what,
            now=now,
            sample=sample,
            snapshot=snapshot if was_there else None,
            was_there=was_there,
            moved=moved,
            left=_left(now, whole),
            left_before=_left(earlier, whole_before) if is_exact else None,
            whole=whole,
            unit="bytes" if is_exact else "bytes of all replicas of the broker",
            waits_for=self._waits_for(partitions, gone),
            needs=self._needs(targets),
        )

    def _needs(self, targets: Collection[int]) -> str:
        """Return what is missing for the size of replicas: an answer of their brokers, the right, or only a second audit."""
        silent = [broker for broker in targets if not self._view.reads.answered(broker)]
        if silent:
            return f"an answer from {brokers(silent)} in two audits"
        of_targets = {f"broker:{broker}" for broker in targets}
        sizes = [read for read in self._view.last_reads if read.operation.startswith(_SIZES) and read.observer in of_targets]
        return "another audit" if sizes and all(read.outcome == "answered" for read in sizes) else _NEEDS

    def _waits_for(self, partitions: Iterable[_Partition], gone: tuple[int, ...]) -> str:
        if gone:
            return f"{brokers(gone)}, {'which is' if len(gone) == 1 else 'which are'} not registered"
        topics = {topic for topic, _ in partitions}
        if self._throttled.intersection(topics):
            return THROTTLE
        return ""

    @cached_property
    def _throttled(self) -> frozenset[str]:
        """The topics with throttled replicas, if a broker has a rate."""
        settings = throttled_topics(self._view) if throttle_rates(self._view) else ()
        return frozenset(topic for row in settings for topic in row.first)

    @cached_property
    def _sizes(self) -> tuple[_Sizes, _Sizes, _Sizes]:
        moments = (self._view.newest(CopiedReplica), self._view.before(CopiedReplica), self._view.earlier(CopiedReplica))
        now, sample, snapshot = map(_by_partition, moments)
        return now, sample, snapshot

    def _coarse(self, targets: Iterable[int]) -> tuple[int | None, int | None]:
        """Return the sizes of all replicas of brokers together, now and in the previous snapshot."""
        both = [[held.get(broker) for broker in targets] for held in self._view.replica_bytes]
        now, earlier = (None if not own or None in own else sum(size or 0 for size in own) for own in both)
        return now, earlier


def _by_partition(rows: Iterable[CopiedReplica]) -> _Sizes:
    found: dict[_Partition, dict[int, int]] = {}
    for row in rows:
        found.setdefault((row.topic, row.partition), {})[row.broker_id] = row.size_bytes
    return found


def _held(sizes: _Sizes, partitions: Iterable[_Partition], targets: Collection[int]) -> int | None:
    """Return how much brokers hold of partitions; None where that is not known of one."""
    own = [sizes.get(name, {}).get(broker) for name in partitions for broker in targets]
    return None if not own or None in own else sum(size or 0 for size in own)


def _whole(sizes: _Sizes, partitions: Iterable[_Partition], targets: Collection[int]) -> int | None:
    """Return how much they will hold: of each partition as much as its largest other replica has; None where there is none."""
    largest = [
        max((size for broker, size in sizes.get(name, {}).items() if broker not in targets), default=None) for name in partitions
    ]
    return None if None in largest else len(targets) * sum(size or 0 for size in largest)


def _left(held: int | None, whole: int | None) -> int | None:
    return None if held is None or whole is None else max(whole - held, 0)
