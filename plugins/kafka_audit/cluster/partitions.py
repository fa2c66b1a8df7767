"""Partitions of the newest sample, as the difference tables measure them: numbers, and the states of those with a fault."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import BrokerShare, ListCount, PartitionCount, ReplicaFault, ReplicaState

_NONE = PartitionCount(
    topics=0,
    partitions=0,
    led=0,
    leaderless=0,
    deleting=0,
    incomplete=0,
    unregistered=0,
)


@dataclass(frozen=True, kw_only=True)
class PartitionState:
    """Which brokers hold a partition. `leader` is None where there is none; `missing` are out of the ISR, see `ReplicaState`."""

    replicas: tuple[int, ...]
    leader: int | None
    isr: tuple[int, ...]
    missing: tuple[int, ...]


class Partitions:
    """The difference tables about partitions, indexed as checks and causes ask for them."""

    def __init__(self, differences: Differences) -> None:
        """Keep the tables; nothing is indexed yet."""
        self._differences = differences

    @cached_property
    def count(self) -> PartitionCount:
        """How many partitions and topics there are; zeros where there are none."""
        return next((row for row in self._differences.of(PartitionCount)), _NONE)

    def of_kind(self, kind: str) -> tuple[ReplicaState, ...]:
        """Return the listed partitions of a kind (see `ReplicaState`) by topic and partition, those that one party lists last."""
        return self._by_kind.get(kind, ())

    def unlisted(self, kind: str) -> int:
        """Return how many more partitions of a kind there are than are listed."""
        return self._faults.get(kind, 0) - len(self.of_kind(kind))

    def state(self, topic: str, partition: int) -> PartitionState | None:
        """Return the state of a partition with a fault; None for any other, and for one that is not listed."""
        return self._states.get((topic, partition))

    @cached_property
    def shares(self) -> Mapping[int, BrokerShare]:
        """What each broker that is assigned or leads anything holds, by broker id."""
        return {row.broker_id: row for row in self._differences.of(BrokerShare)}

    @cached_property
    def assigned(self) -> frozenset[int]:
        """Brokers that a partition is assigned to."""
        return frozenset(broker for broker, share in self.shares.items() if share.replicas > 0)

    def led_by(self, brokers: Iterable[int]) -> int:
        """Return how many partitions these brokers lead."""
        return sum(self.shares[broker].led for broker in set(brokers) & self.shares.keys())

    def held_by(self, broker: int) -> int:
        """Return how many partitions have a replica on a broker."""
        return self.shares[broker].replicas if broker in self.shares else 0

    @cached_property
    def lists(self) -> Mapping[str, ListCount]:
        """How much each list of topics shows, by `topics_digest`."""
        return {row.topics_digest: row for row in self._differences.of(ListCount)}

    @cached_property
    def _by_kind(self) -> Mapping[str, tuple[ReplicaState, ...]]:
        found: dict[str, list[ReplicaState]] = {}
        for row in sorted(self._differences.of(ReplicaState), key=lambda row: (row.alone, row.topic, row.partition)):
            for kind in row.kinds:
                found.setdefault(kind, []).append(row)
        return {kind: tuple(rows) for kind, rows in found.items()}

    @cached_property
    def _faults(self) -> Mapping[str, int]:
        return {row.kind: row.partitions for row in self._differences.of(ReplicaFault)}

    @cached_property
    def _states(self) -> Mapping[tuple[str, int], PartitionState]:
        return {
            (row.topic, row.partition): PartitionState(
                replicas=row.replicas,
                leader=None if row.leader is None or row.leader < 0 else row.leader,
                isr=row.isr,
                missing=row.missing,
            )
            for row in self._differences.of(ReplicaState)
        }
