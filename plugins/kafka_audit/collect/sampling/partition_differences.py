"""Partitions that differ, as columns: lists of topics against /brokers/topics, once per distinct content of a topic. Pure.

And those without leader, with one that recovers, or with replicas out of the ISR: another sample shows what lasts.
"""

from collections.abc import Hashable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit.collect.rows.columns import NONE, Flags, Ints, Lists, int_column, positions, texts
from kafka_audit.model.text import counted

Key = tuple[Hashable, ...]
_SHIFT = 32  # a partition's number is Java's int
_NO_LEADER = -1
_RECOVERING = 1
_RECOVERY = "leader_recovery_state"  # that brokers list nowhere


class PartitionSet:
    """Distinct partitions in order, each as one text; they compare by their texts, so a set of equal partitions is equal."""

    def __init__(self, names: pa.StringArray) -> None:
        """Take texts of `partition_names`, in any order."""
        distinct = names.unique()
        self.names = distinct.take(pc.array_sort_indices(distinct))

    def __len__(self) -> int:
        """How many there are."""
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        """Return whether these are the same partitions."""
        return isinstance(other, PartitionSet) and bool(self.names.equals(other.names))

    def __hash__(self) -> int:
        """Return a number that equal ones have in common."""
        return hash((len(self), self.names[0].as_py() if len(self) else None))

    def has_more_than(self, earlier: "PartitionSet | None") -> bool:
        """Return whether there is one here that was not there earlier."""
        if earlier is None or not len(earlier):
            return bool(len(self))
        return not pc.all(pc.is_in(self.names, value_set=earlier.names), min_count=0).as_py()


def partition_names(topics: pa.StringArray, partitions: Ints, *more: pa.StringArray) -> pa.StringArray:
    """Return each partition as one text, with what else belongs to it. The number comes first: a topic may have any name."""
    return pc.binary_join_element_wise(pa.array(partitions).cast(pa.string()), *more, topics, "\0")


NOWHERE = PartitionSet(pa.array([], pa.string()))


class TopicLists:
    """Lists of topics against /brokers/topics."""

    def __init__(self, topics: pa.Table, partitions: pa.Table, listed: pa.Table, held: pa.Table) -> None:
        """Take registered topics and partitions, and topics and partitions of views."""
        names = texts(topics, "topic")
        self._deleting = names.filter(topics.column("deleting").combine_chunks())
        self._topics = pc.unique(names.filter(pc.invert(topics.column("deleting").combine_chunks())))
        self._listed = listed
        self._digests = pc.unique(texts(listed, "topic_digest"))
        self._differ, self._names = _differing(partitions, listed, held, self._digests)
        self._known: dict[str, tuple[frozenset[Key], PartitionSet]] = {}

    def compare(self, digest: str) -> tuple[frozenset[Key], PartitionSet]:
        """Return topics that only one side has, and partitions of the others that are not the same."""
        if digest not in self._known:
            own = self._listed.filter(pc.equal(self._listed.column("topics_digest"), digest))
            own = own.filter(pc.invert(pc.is_in(own.column("topic"), value_set=self._deleting)))
            names = texts(own, "topic")
            known = pc.is_in(names, value_set=self._topics)
            missing = self._topics.filter(pc.invert(pc.is_in(self._topics, value_set=names)))
            apart = frozenset(("topic", name) for name in (*missing.to_pylist(), *names.filter(pc.invert(known)).to_pylist()))
            digests = positions(texts(own, "topic_digest").filter(known), self._digests)
            self._known[digest] = apart, self._partitions(digests)
        return self._known[digest]

    def _partitions(self, digests: Ints) -> PartitionSet:
        here = np.isin(self._differ, digests)
        return PartitionSet(self._names.filter(pa.array(here))) if here.any() else NOWHERE


def _differing(partitions: pa.Table, listed: pa.Table, held: pa.Table, digests: pa.Array) -> tuple[Ints, pa.StringArray]:
    """Return partitions that a distinct content of a topic has otherwise than ZooKeeper: the content's place, and their names."""
    topics = pc.unique(texts(partitions, "topic"))
    registered = positions(texts(partitions, "topic"), topics) << _SHIFT | int_column(partitions, "partition")
    order = np.argsort(registered, kind="stable")
    registered = registered[order]
    topic, number = positions(texts(held, "topic"), topics), int_column(held, "partition")
    wanted = np.where(topic < 0, -1, topic << _SHIFT | number)
    at = np.searchsorted(registered, wanted)
    there = at < len(registered)
    there[there] = registered[at[there]] == wanted[there]
    equal = there.copy()
    equal[there] = _equal(held, np.flatnonzero(there), partitions, order[at[there]])
    content = positions(texts(held, "topic_digest"), digests)
    # Partitions that only ZooKeeper has: the content shows fewer of them than there are.
    first = np.searchsorted(registered, np.arange(len(topics) + 1) << _SHIFT)
    of_listed = positions(texts(listed, "topic_digest"), digests)
    name = np.full(len(digests), -1)
    name[of_listed] = positions(texts(listed, "topic"), topics)
    shown = np.bincount(content[there & (content >= 0)], minlength=len(digests))
    short = np.flatnonzero((name >= 0) & (shown < np.diff(first, append=0)[name]))
    more_content, more = [], []
    shown_by: dict[int, Ints] = {}
    if len(short):
        members = np.flatnonzero(there & np.isin(content, short))
        members = members[np.argsort(content[members], kind="stable")]
        bounds = np.searchsorted(content[members], [short, short + 1])
        shown_by = {int(entry): wanted[members[low:high]] for entry, low, high in zip(short, *bounds, strict=True)}
    for entry, known in shown_by.items():
        missing = np.setdiff1d(registered[first[name[entry]] : first[name[entry] + 1]], known)
        more_content.append(np.full(len(missing), entry))
        more.append(missing)
    differ = np.flatnonzero(~equal)
    missing = np.concatenate([np.empty(0, np.int64), *more])
    own = partition_names(texts(held, "topic").take(pa.array(differ)), number[differ])
    others = partition_names(topics.take(pa.array(missing >> _SHIFT)), missing & (1 << _SHIFT) - 1)
    return np.concatenate([content[differ], *more_content]), pa.concat_arrays([own, others])


def _equal(held: pa.Table, ints: Ints, partitions: pa.Table, two: Ints) -> Flags:
    """Return which partitions of views say the same as those of ZooKeeper; a view of an old version knows no epochs."""
    epoch = int_column(held, "leader_epoch")[ints]
    same: Flags = int_column(held, "leader")[ints] == int_column(partitions, "leader")[two]
    same &= (epoch == NONE) | (epoch == int_column(partitions, "leader_epoch")[two])
    for name in ("replicas", "isr"):
        same &= Lists.column(held, name).take(ints).equal(Lists.column(partitions, name).take(two))
    return same


def replication_gaps(registered: pa.Table, listed: pa.Table, reasons: list[str]) -> PartitionSet:
    """Return what is wrong with partitions, with a reason for each kind; `listed` counts where nothing is registered.

    The ISR is a part of the name: one that goes on changing has not settled.
    """
    rows = registered if registered.num_rows else listed
    topics, partitions = texts(rows, "topic"), int_column(rows, "partition")
    isr, replicas = Lists.column(rows, "isr"), Lists.column(rows, "replicas")
    short = np.flatnonzero((isr.lengths < replicas.lengths) & (True if isr.null is None else ~isr.null))
    leaderless = np.flatnonzero(int_column(rows, "leader") == _NO_LEADER)
    in_sync = pc.binary_join(isr.take(short).arrow().cast(pa.list_(pa.string())), ",")
    recovering = np.flatnonzero(int_column(rows, _RECOVERY) == _RECOVERING) if _RECOVERY in rows.column_names else leaderless[:0]
    kinds = (
        (leaderless, (), "has no leader"),
        (short, (in_sync,), "has replicas out of the ISR"),
        (recovering, (pa.array([_RECOVERY] * len(recovering), pa.string()),), "has not recovered from an unclean election"),
    )
    names = []
    for at, more, text in kinds:
        gap = PartitionSet(partition_names(topics.take(pa.array(at)), partitions[at], *more))
        if len(gap):
            what = text if len(gap) == 1 else text.replace("has", "have", 1)
            reasons.append(f"{counted(len(gap), 'partition')} {what}")
        names.append(gap.names)
    return PartitionSet(pa.concat_arrays(names))
