"""What a second sample must ask again: the parties that differ, and the topics that they differ about. Pure.

A difference counts if two samples show it and what it rests on did not change in between. So a second sample asks the parties
of each difference, and ZooKeeper: registrations, the controller, and the topics in doubt. Parties without a difference need no
second sample, as in a cluster without any. For a difference that is not of certain brokers, everything is asked again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.sampling.sample_differences import Key, SampleDifferences, SampleTables
from kafka_audit.model.asked_again import VANTAGE, ZOOKEEPER, party
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerView, Migration, Probe, Reassignment, RegisteredTopic, Registry, Row, SourceRead

_SHARE = 0.5  # of the brokers, or of the topics, from which all are asked again
_OF_ZOOKEEPER = frozenset({"no controller", "absent", "fewer brokers than expected", "ZooKeeper's server", "notices"})
_OF_OBSERVER = frozenset({"acls", "read", "cluster id"})
_OF_BROKERS: Mapping[str, Sequence[int]] = MappingProxyType(
    {"coordinator": (1,), "rebalance": (1,), "partition": (3,), "probe": (3,), "identity": (1, 3)}
)
"""Where the numbers of brokers are in a key."""

_BROKERS = ("broker:", "broker@")


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """What to ask again, besides what each sample asks.

    Attributes:
        parties: brokers, and vantages besides this worker, by the names of their observers.
        topics: topics in ZooKeeper; None for all.
    """

    parties: frozenset[str]
    topics: frozenset[str] | None

    @property
    def asks_vantages(self) -> bool:
        """Whether vantages are among them."""
        return any(observer.startswith(VANTAGE) for observer in self.parties)


@dataclass(frozen=True, kw_only=True)
class SampleAgain:
    """A second sample of what is in doubt: the whole sample before it, and what that is."""

    earlier: Collected
    doubt: Doubt

    def rests_on(self, rows: Iterable[Row]) -> bool:
        """Return whether ZooKeeper was read, and holds the same list of brokers and the same controller as in that sample."""
        now, before = (
            [(row.brokers_pzxid, row.controller_mzxid) for row in sample_rows if isinstance(row, Registry)]
            for sample_rows in (rows, self.earlier.rows)
        )
        return bool(now) and now == before


def find_doubt(tables: SampleTables, found: SampleDifferences) -> Doubt | None:
    """Return what the differences of a sample are about; None where only a whole sample can confirm them."""
    reads = tables.of(SourceRead)
    whole = any(read.outcome == "failed" and read.observer == ZOOKEEPER for read in reads)
    contradicted = any(read.failure is ReadFailure.CONTRADICTS_ZOOKEEPER for read in reads)
    if tables.registry() is None or tables.of(Migration) or whole or contradicted:
        return None
    parties = {observer for observer, _ in found.of_views}
    topics = {str(key[1]) for key in found.all() if key[0] in {"topic", "partition"}}
    for key in found.others:
        of_difference = _parties(key, tables)
        if of_difference is None:
            return None
        parties |= of_difference
    if not all(observer.startswith((*_BROKERS, VANTAGE)) for observer in parties):
        return None
    asked = {read.observer for read in reads if read.observer.startswith(_BROKERS)}
    if len(parties & asked) > _SHARE * len(asked):
        return None
    if any(observer.startswith(VANTAGE) for observer in parties):  # all of them, for they share `limits.probes`
        parties |= {read.observer for read in reads if read.observer.startswith(VANTAGE)} | {
            party(probe) for probe in tables.of(Probe) if probe.vantage != WORKER
        }
    names = [_topics(partitions.names) for partitions in found.partitions.values()]
    topics |= {*pc.unique(pa.concat_arrays(names)).to_pylist()} if names else set()
    topics |= {row.topic for row in tables.of(Reassignment)}  # they are rows of each sample
    all_topics = len(topics) > _SHARE * tables.columns(RegisteredTopic).num_rows
    return Doubt(parties=frozenset(parties), topics=None if all_topics else frozenset(topics))


def _parties(key: Key, tables: SampleTables) -> set[str] | None:
    """Return the brokers that a difference apart from views is about, None where that is not known."""
    kind = str(key[0])
    if kind in _OF_ZOOKEEPER:
        # A broker that is not registered may answer at an address of the cluster file.
        return {read.observer for read in tables.of(SourceRead) if read.observer.startswith("broker@")}
    if kind in _OF_OBSERVER:
        return {str(key[1])}
    if kind == "probe" and key[1] != WORKER:
        return {f"{VANTAGE}{key[1]}"}
    if kind in _OF_BROKERS:
        return {f"broker:{key[place]}" for place in _OF_BROKERS[kind]}
    return _fewer(tables, key[1], key[2]) if kind == "views" else None


def _fewer(tables: SampleTables, listener: object, version: object) -> set[str]:
    """Return the brokers whose views on a listener are not those that most have."""
    views = [view for view in tables.of(BrokerView) if (view.listener, view.metadata_version) == (listener, version)]
    shown = Counter((view.brokers_digest, view.topics_digest) for view in views)
    most, _ = max(shown.items(), key=lambda entry: (entry[1], entry[0]))
    return {view.observer for view in views if (view.brokers_digest, view.topics_digest) != most}


def _topics(names: pa.StringArray) -> pa.StringArray:
    """Return the topics in texts of `partition_names`: what is behind the last zero byte."""
    if not len(names):
        return names
    return pc.list_element(pc.split_pattern(names, "\0", max_splits=1, reverse=True), 1)
