"""What was read from ZooKeeper, and the rows and columns it becomes."""

from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from kafka_audit.bounds.kept_brokers import Vouchers, keep_brokers
from kafka_audit.collect.priorities import brokers_by_registration, named_brokers
from kafka_audit.collect.rows.collected import Large
from kafka_audit.collect.rows.columns import NONE, Ints, Lists, nullable, table
from kafka_audit.collect.rows.topic_digests import topic_digests
from kafka_audit.collect.zookeeper.partition_states import States
from kafka_audit.collect.zookeeper.znodes import Assignment, Registration
from kafka_audit.model.tables import Reassignment, RegisteredPartition, RegisteredTopic, Registry, Row


class RegisteredTopics:
    """/brokers/topics: topics in the order in which they were read, and their partitions one after the other, as columns."""

    def __init__(self) -> None:
        """Start without any."""
        self.names: list[str] = []
        self._ids: list[str | None] = []
        self._czxids, self._mzxids = array("q"), array("q")
        self._topic, self._partition = array("i"), array("i")
        self._lengths, self._replicas = array("i"), array("i")
        self._moves: list[tuple[str, Assignment]] = []

    def __len__(self) -> int:
        """How many partitions there are."""
        return len(self._partition)

    def add(self, name: str, assignment: Assignment, czxid: int, mzxid: int) -> None:
        """Add a topic with the parts of its stat that rows carry."""
        self._topic.extend([len(self.names)] * len(assignment.partitions))
        self.names.append(name)
        self._ids.append(assignment.topic_id)
        self._czxids.append(czxid)
        self._mzxids.append(mzxid)
        self._partition.extend(assignment.partitions)
        self._lengths.extend(assignment.lengths)
        self._replicas.extend(assignment.replicas)
        if assignment.adding or assignment.removing:
            self._moves.append((name, assignment))

    def state_path(self, place: int, root: str) -> str:
        """Return the path of a partition's state below `root`."""
        return f"{root}/{self.names[self._topic[place]]}/partitions/{self._partition[place]}/state"

    def assigned(self) -> set[int]:
        """Return the brokers to which partitions are assigned."""
        return set(np.unique(self._replicas).tolist())

    def table(self, sample: int, deleting: frozenset[str], states: "PartitionStates") -> pa.Table:
        """Return the topics."""
        samples = np.full(len(self.names), sample)
        return table(
            RegisteredTopic,
            sample=samples,
            last_sample=samples,
            topic=self.names,
            topic_id=self._ids,
            czxid=np.array(self._czxids),
            mzxid=np.array(self._mzxids),
            deleting=[name in deleting for name in self.names],
            content_digest=self._digests(states),
        )

    def _digests(self, states: "PartitionStates") -> list[str | None]:
        """Return for each topic the digest of a view that shows these states; None where a state is not known."""
        places, held = states.newest()
        topic, number = _ints(self._topic), _ints(self._partition)
        known = (held.leader != NONE) & (held.leader_epoch != NONE)
        if held.isr.null is not None:
            known &= ~held.isr.null
        counts = np.bincount(topic, minlength=len(self.names))
        whole = (counts > 0) & (np.bincount(topic[places[known]], minlength=len(self.names)) == counts)
        kept = np.flatnonzero(whole[topic[places]])
        kept = kept[np.lexsort((number[places[kept]], topic[places[kept]]))]
        at, none = places[kept], np.zeros(len(kept), np.int64)
        digests = topic_digests(
            [self.names[topic] for topic in np.flatnonzero(whole)],
            np.concatenate(([0], np.cumsum(counts[whole]))),
            (number[at], none, held.leader[kept], held.leader_epoch[kept]),
            (
                Lists.of_lengths(_ints(self._lengths), _ints(self._replicas)).take(at),
                held.isr.take(kept),
                Lists.of_lengths(none, none[:0]),
            ),
        )
        found: list[str | None] = [None] * len(self.names)
        for place, digest in zip(np.flatnonzero(whole).tolist(), digests, strict=True):
            found[place] = digest
        return found

    def partitions(self, sample: int, states: "PartitionStates") -> pa.Table:
        """Return the partitions whose state was read.

        One whose state was not read is left out, which is not the same as absent: a row without leader would be a lie.
        """
        places, held = states.newest()
        samples = np.full(len(places), sample)
        replicas = Lists.of_lengths(_ints(self._lengths), _ints(self._replicas))
        return table(
            RegisteredPartition,
            sample=samples,
            last_sample=samples,
            topic=pa.array(self.names, pa.string()).take(pa.array(_ints(self._topic)[places])),
            partition=_ints(self._partition)[places],
            replicas=replicas.take(places),
            leader=nullable(held.leader),
            leader_epoch=nullable(held.leader_epoch),
            controller_epoch=nullable(held.controller_epoch),
            isr=held.isr,
            leader_recovery_state=nullable(held.leader_recovery_state),
            state_mzxid=nullable(held.mzxid),
        )

    def moves(self, sample: int) -> Iterator[Reassignment]:
        """Yield reassignments in progress; Kafka leaves empty lists behind."""
        for topic, assignment in self._moves:
            replicas = assignment.by_partition()
            for number in sorted(assignment.adding.keys() | assignment.removing.keys()):
                adding, removing = assignment.adding.get(number, ()), assignment.removing.get(number, ())
                if adding or removing:
                    yield Reassignment(
                        sample=sample,
                        observer="zookeeper",
                        topic=topic,
                        partition=number,
                        replicas=replicas.get(number, ()),
                        adding=adding,
                        removing=removing,
                    )


def _ints(values: "array[int]") -> Ints:
    return np.array(values, np.int64)


class PartitionStates:
    """States of partitions as they were read, each with the place of its partition; a later reading counts."""

    def __init__(self) -> None:
        """Start without any."""
        self._places: list[Ints] = []
        self._states: list[States] = []

    def add(self, places: Ints, states: States) -> None:
        """Add what was read of some partitions."""
        self._places.append(places)
        self._states.append(states)

    def newest(self) -> tuple[Ints, States]:
        """Return the places of all partitions that were read, in order, and what each held when it was read last."""
        places = np.concatenate([np.empty(0, np.int64), *self._places])
        found, at = np.unique(places[::-1], return_index=True)
        return found, States.joined(self._states).take(len(places) - 1 - at)

    def moved_since(self, zxid: int) -> Ints:
        """Return the places of partitions whose state was written after that zxid."""
        places, states = self.newest()
        moved: Ints = places[(states.mzxid != NONE) & (states.mzxid > zxid)]
        return moved


@dataclass(kw_only=True)
class Registered:
    """Everything read in one sample; what could not be read is missing here and has its `SourceRead` row."""

    controller: int | None = None
    controller_mzxid: int | None = None
    controller_epoch: int | None = None
    cluster_id: str | None = None
    brokers_pzxid: int | None = None
    brokers: dict[int, Registration] = field(default_factory=dict)
    deleting: frozenset[str] = frozenset()
    topics: RegisteredTopics = field(default_factory=RegisteredTopics)
    states: PartitionStates = field(default_factory=PartitionStates)

    def rows(self, sample: int, zxid_before: int, zxid_after: int) -> Iterator[Row]:
        """Yield the rows of the tables that ZooKeeper fills, but for those that grow with topics and partitions."""
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
        yield from self.topics.moves(sample)

    def large(self, sample: int) -> Large:
        """Return the tables that grow with topics and partitions."""
        partitions = self.topics.partitions(sample, self.states)
        topics = self.topics.table(sample, self.deleting, self.states)
        return MappingProxyType({RegisteredTopic: topics, RegisteredPartition: partitions})


def by_priority(
    registered: Mapping[int, Registration], named: Collection[tuple[str, int]], assigned: Collection[int]
) -> list[int]:
    """Return the registered brokers, those first that are asked before others.

    Args:
        registered: by id.
        named: addresses in the cluster file, hosts in small letters.
        assigned: brokers to which partitions are assigned.
    """
    order = brokers_by_registration((registration.broker for registration in registered.values()), assigned)
    places = ((broker, place.host, place.port) for broker in order for place in registered[broker].endpoints)
    return [*keep_brokers(len(order), Vouchers(named=named_brokers(places, named), registered=order)).ids]
