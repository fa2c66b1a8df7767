"""What was read from ZooKeeper, and the rows it becomes."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from kafka_audit.collect.znodes import Assignment, Registration, State
from kafka_audit.model.tables import Reassignment, RegisteredPartition, RegisteredTopic, Registry, Row


@dataclass(frozen=True, slots=True)
class Topic:
    """/brokers/topics/T with the parts of its stat that rows carry."""

    assignment: Assignment
    czxid: int
    mzxid: int


@dataclass(frozen=True, slots=True)
class PartitionState:
    """The state of a partition; `state` is None where the znode does not exist (yet)."""

    state: State | None
    mzxid: int


@dataclass(kw_only=True)
class Registered:
    """Everything read in one look; what could not be read is missing here and has its `SourceRead` row."""

    controller: int | None = None
    controller_mzxid: int | None = None
    controller_epoch: int | None = None
    cluster_id: str | None = None
    brokers_pzxid: int | None = None
    brokers: dict[int, Registration] = field(default_factory=dict)
    deleting: frozenset[str] = frozenset()
    topics: dict[str, Topic] = field(default_factory=dict)
    states: dict[tuple[str, int], PartitionState] = field(default_factory=dict)

    def moved_since(self, zxid: int) -> list[tuple[str, int]]:
        """Return the partitions whose state was written after that zxid."""
        return [key for key, one in self.states.items() if one.mzxid > zxid]

    def rows(self, sample: int, zxid_before: int, zxid_after: int) -> Iterator[Row]:
        """Yield the rows of all tables that ZooKeeper fills."""
        yield Registry(
            sample=sample,
            kafka_cluster_id=self.cluster_id,
            controller_id=self.controller,
            controller_epoch=self.controller_epoch,
            controller_mzxid=self.controller_mzxid,
            brokers_pzxid=self.brokers_pzxid,
            zxid_before=zxid_before,
            zxid_after=zxid_after,
        )
        for registration in self.brokers.values():
            yield registration.broker
            yield from registration.endpoints
        for name, topic in self.topics.items():
            yield RegisteredTopic(
                sample=sample,
                topic=name,
                topic_id=topic.assignment.topic_id,
                czxid=topic.czxid,
                mzxid=topic.mzxid,
                deleting=name in self.deleting,
            )
            yield from self._partitions(sample, name, topic.assignment)
            yield from _moves(sample, name, topic.assignment)

    def _partitions(self, sample: int, topic: str, assignment: Assignment) -> Iterator[Row]:
        for number, replicas in assignment.replicas.items():
            held = self.states.get((topic, number))
            if held is None:
                continue  # not read, which is not the same as absent: a row without leader would be a lie
            state = held.state
            yield RegisteredPartition(
                sample=sample,
                topic=topic,
                partition=number,
                replicas=replicas,
                leader=None if state is None else state.leader,
                leader_epoch=None if state is None else state.leader_epoch,
                controller_epoch=None if state is None else state.controller_epoch,
                isr=None if state is None else state.isr,
                leader_recovery_state=None if state is None else state.leader_recovery_state,
                state_mzxid=None if state is None else held.mzxid,
            )


def _moves(sample: int, topic: str, assignment: Assignment) -> Iterator[Row]:
    """Yield reassignments under way; Kafka leaves empty lists behind."""
    for number in sorted(assignment.adding.keys() | assignment.removing.keys()):
        adding, removing = assignment.adding.get(number, ()), assignment.removing.get(number, ())
        if adding or removing:
            yield Reassignment(
                sample=sample,
                observer="zookeeper",
                topic=topic,
                partition=number,
                replicas=assignment.replicas.get(number, ()),
                adding=adding,
                removing=removing,
            )
