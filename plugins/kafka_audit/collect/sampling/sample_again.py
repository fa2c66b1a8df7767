"""Whether one sample is enough, and when to take another. Pure: rows of samples in, reason and seconds out.

A difference counts only if two samples show it and its base did not change between them. A second sample is therefore
taken when the first one shows a difference, and further ones while the ground moves.
"""

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit.clients.read_error import clean_line
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.rows.columns import Flags, Ints, Lists, int_column, positions, texts
from kafka_audit.collect.sampling import sample_differences
from kafka_audit.collect.sampling.doubts import Doubt, find_doubt
from kafka_audit.collect.sampling.partition_differences import partition_names
from kafka_audit.collect.sampling.sample_differences import NOTHING, SampleDifferences, SampleTables
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.model.asked_again import ZOOKEEPER
from kafka_audit.model.cluster import WORKER, Expect
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerConfig, Probe, RegisteredBroker, RegisteredPartition, SourceRead

_SAMPLES = frozenset({"sample", "last_sample"})
_PARTITION = "partition"


def without_repeated_rows(earlier: pa.Table, later: pa.Table) -> pa.Table:
    """Return registered topics or partitions of both samples; a row of the later one that is as it was is not repeated."""
    at = _places(later, earlier)
    known = np.flatnonzero(at >= 0)
    same = np.zeros(later.num_rows, np.bool_)
    same[known] = _equal(earlier.take(pa.array(at[known])), later.take(pa.array(known)))
    last = int_column(earlier, "last_sample").copy()
    last[at[same]] = int_column(later, "last_sample")[same]
    place = earlier.column_names.index("last_sample")
    return pa.concat_tables([earlier.set_column(place, earlier.field(place), pa.array(last)), later.filter(pa.array(~same))])


def _places(later: pa.Table, earlier: pa.Table) -> Ints:
    """Return the index of the topic or partition of each later row among the earlier rows, -1 if it is missing."""
    keys = [name for name in ("topic", _PARTITION) if name in later.column_names]
    if all(later.column(name).equals(earlier.column(name)) for name in keys):  # as it is nearly always
        return np.arange(later.num_rows)
    return positions(_keys(later), _keys(earlier))


def _keys(data: pa.Table) -> pa.StringArray:
    topics = texts(data, "topic")
    return partition_names(topics, int_column(data, _PARTITION)) if _PARTITION in data.column_names else topics


def _equal(table: pa.Table, two: pa.Table) -> Flags:
    """Return which rows are equal, place by place, whatever samples they are of."""
    same = np.ones(table.num_rows, np.bool_)
    for field in table.schema:
        if field.name in _SAMPLES:
            continue
        if pa.types.is_list(field.type):
            same &= Lists.column(table, field.name).equal(Lists.column(two, field.name))
        else:
            left, right = table.column(field.name), two.column(field.name)
            equal = pc.fill_null(pc.equal(left, right), pc.and_(pc.is_null(left), pc.is_null(right)))
            same &= equal.to_numpy()
    return same


MOST_SAMPLES = 4
SESSION_S = 18.0
"""Kafka's default zookeeper.session.timeout.ms since 2.5, if no broker reports its own."""

TICK_S = 3.0
"""ZooKeeper ends sessions at its ticks, so up to a default tickTime late."""

LEASE_S = 9.0
"""Kafka's default broker.session.timeout.ms: for so long a KRaft controller believes in a broker that it does not hear."""

MOST_SESSION_S = 60.0
"""Longest session that is waited for: ZooKeeper grants 40 s by default, whatever a broker asks for."""

_SESSION_KEY, _LEASE_KEY = "zookeeper.session.timeout.ms", "broker.session.timeout.ms"
_REASONS = 3


class ExaminedSample:
    """A sample with its differences, which are found once."""

    def __init__(self, sample: Collected, expect: Expect = NOTHING) -> None:
        """Keep the sample.

        Args:
            sample: everything of one, view tables included.
            expect: what the cluster file says is right.
        """
        self.sample = sample
        self._expect = expect

    @cached_property
    def tables(self) -> SampleTables:
        """Its rows by table."""
        return SampleTables(self.sample)

    @cached_property
    def differences(self) -> SampleDifferences:
        """What its parties do not agree on."""
        return sample_differences.find_sample_differences(self.tables, self._expect)

    @property
    def doubt(self) -> Doubt | None:
        """What a second sample must ask again; None for everything."""
        return find_doubt(self.tables, self.differences)


def why_again(sample: ExaminedSample) -> str | None:
    """Return in words why the first sample needs a second, None if it does not."""
    return _reason(sample.differences)


def why_once_more(before: ExaminedSample, now: ExaminedSample) -> str | None:
    """Return the reason for another sample after these two, None if there is no difference or it has settled."""
    reason = _reason(now.differences)
    if reason is None:
        return None
    return _moved(before.tables, now.tables, now.differences) or (
        reason if now.differences.has_more_than(before.differences) else None
    )


def session_wait(sample: Collected) -> float:
    """Return how many seconds a broker that is registered but refuses connections needs to be gone; 0 where none is like that.

    A killed broker stays registered until its ZooKeeper session ends, and is listed until its KRaft controller fences it: before
    that it has the symptoms of a port that a firewall closes. Restarted in KRaft mode, it contradicts ZooKeeper until
    its session ends.
    """
    tables = SampleTables(sample)
    with_zookeeper = any(read.observer == ZOOKEEPER for read in tables.of(SourceRead)) or tables.registry() is not None
    registered = {row.broker_id for row in (tables.of(RegisteredBroker) if with_zookeeper else tables.of(Probe))}
    key, default_s = (_SESSION_KEY, SESSION_S) if with_zookeeper else (_LEASE_KEY, LEASE_S)
    tried = [probe for probe in tables.of(Probe) if probe.vantage == WORKER and probe.layer == "tcp"]
    refusing = {probe.broker_id for probe in tried if probe.failure is ReadFailure.REFUSED}
    contradicts = any(read.failure is ReadFailure.CONTRADICTS_ZOOKEEPER for read in tables.of(SourceRead))
    if not registered & refusing and not contradicts:
        return 0.0
    values = (integer(config.value or "") for config in tables.of(BrokerConfig) if config.key == key)
    reported = [value for value in values if value is not None and value >= 0]
    return min(max(reported) / 1000 if reported else default_s, MOST_SESSION_S) + TICK_S


def _reason(differences: SampleDifferences) -> str | None:
    if not differences.reasons:
        return None
    more = len(differences.reasons) - _REASONS
    return "; ".join(differences.reasons[:_REASONS]) + (f"; and {more} more" if more > 0 else "")


def _moved(old: SampleTables, new: SampleTables, found: SampleDifferences) -> str | None:
    """Return what changed in ZooKeeper under the differences of the newest sample."""
    before, now = old.registry(), new.registry()
    if before is None or now is None:
        return None
    if before.brokers_pzxid != now.brokers_pzxid:
        return "brokers were added or removed since the previous sample"
    if before.controller_mzxid != now.controller_mzxid:
        return "the controller changed since the previous sample"
    topics = pa.array([key[1] for key in found.all() if key[0] == "topic"], pa.string())
    answers = [(str(key[1]), int(str(key[2]))) for key in found.all() if key[0] == "partition"]
    names, numbers_of = (
        pa.array([name for name, _ in answers], pa.string()),
        np.array([number for _, number in answers], np.int64),
    )
    of_views = [partitions.names for view, partitions in found.partitions.items() if view is not None]
    partitions = pa.concat_arrays([partition_names(names, numbers_of), *of_views])
    if not len(topics) and not len(partitions):
        return None
    earlier, later = old.columns(RegisteredPartition), new.columns(RegisteredPartition)
    there, here = _named(earlier), _named(later)
    rests = pc.or_(pc.is_in(texts(later, "topic"), value_set=topics), pc.is_in(here, value_set=partitions))
    at = np.flatnonzero(rests.to_numpy(zero_copy_only=False))
    known = positions(here.take(pa.array(at)), there)
    at, known = at[known >= 0], known[known >= 0]
    for entry in at[int_column(earlier, "state_mzxid")[known] != int_column(later, "state_mzxid")[at]][:1]:
        topic, partition = texts(later, "topic")[entry].as_py(), int_column(later, "partition")[entry]
        return f"the state of {clean_line(topic, 60)}-{partition} changed since the previous sample"
    return None


def _named(partitions: pa.Table) -> pa.StringArray:
    return partition_names(texts(partitions, "topic"), int_column(partitions, "partition"))
