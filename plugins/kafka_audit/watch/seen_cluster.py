"""A reading as a snapshot of one sample has it: what it shows of registrations, views and the quorum, `cluster` says. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from statistics import median_low

from kafka.protocol.admin import DescribeQuorumRequest
from kafka.protocol.metadata import MetadataRequest

from kafka_audit.clients.targets import UNREGISTERED
from kafka_audit.cluster.disagreements import Claim, claims
from kafka_audit.cluster.quorum import OPERATION, Quorum
from kafka_audit.cluster.registry import RegistrySample
from kafka_audit.cluster.samples import Samples
from kafka_audit.cluster.views import HeldViews
from kafka_audit.collect.zookeeper.migration import runs_without_zookeeper
from kafka_audit.model.quorum import newest_view
from kafka_audit.model.tables import (
    BrokerApi,
    BrokerView,
    QuorumView,
    RegisteredBroker,
    Row,
    Sample,
    Snapshot,
    SnapshotInfo,
    SourceRead,
)
from kafka_audit.watch.reading import NOT_ASKED, BrokerReading, Reading, ZookeeperReading
from kafka_audit.watch.suspicions import HALF, electorate, shares


class SeenCluster:
    """What one reading shows; without ZooKeeper, the views decide that count."""

    def __init__(self, reading: Reading, expected_cluster_id: str | None = None) -> None:
        """Keep the reading, and the id of the cluster file; nothing is compared yet."""
        self.reading = reading
        self.brokers: Mapping[int, BrokerReading] = {
            broker.broker_id: broker for broker in reading.brokers if broker.broker_id is not None
        }
        self._expected = expected_cluster_id

    @cached_property
    def counted(self) -> tuple[BrokerReading, ...]:
        """The brokers whose views count where no ZooKeeper decides."""
        return electorate(self.reading)

    @property
    def zookeeper(self) -> ZookeeperReading | None:
        """What ZooKeeper holds, where it answers and is the reference."""
        zookeeper = self.reading.zookeeper
        return None if zookeeper is None or self.kraft or not zookeeper.answer.answered else zookeeper

    @cached_property
    def kraft(self) -> bool:
        """Whether ZooKeeper is no reference: the cluster file names none, or brokers run without it."""
        zookeeper = self.reading.zookeeper
        return zookeeper is None or runs_without_zookeeper((*zookeeper.rows, *self._apis()))

    def _apis(self) -> Iterator[BrokerApi]:
        """Yield the rows that distinguish brokers of both modes."""
        for number, broker in self.brokers.items():
            offered = (MetadataRequest.API_KEY, *((DescribeQuorumRequest.API_KEY,) if broker.kraft else ()))
            for key in offered if broker.kraft is not None else ():
                yield BrokerApi(observer=broker.observer, broker_id=number, api_key=key, min_version=0, max_version=0)

    @cached_property
    def registered(self) -> frozenset[int] | None:
        """The brokers that belong to the cluster now, None if no party says.

        Without ZooKeeper those that at least half of the views list that count. Nothing is compared with them: this is how long
        the watch waits for a broker, and which ones it goes on to ask.
        """
        if self.zookeeper is not None:
            return self.zookeeper.brokers
        listed = shares(self.counted) if self.counted else None
        return None if listed is None else frozenset(broker for broker, share in listed.items() if share >= HALF)

    @cached_property
    def sessions(self) -> Mapping[int, int]:
        """The zxid of each broker's registration in ZooKeeper, where it is the reference."""
        rows = () if self.zookeeper is None else self.zookeeper.rows
        return {row.broker_id: row.czxid for row in rows if isinstance(row, RegisteredBroker)}

    @cached_property
    def registry(self) -> RegistrySample:
        """The registry: ZooKeeper's, or the newest that the brokers hold whose views count."""
        return RegistrySample(self._counted_samples, 1, {})

    @cached_property
    def claims(self) -> Mapping[int, tuple[Claim, ...]]:
        """What each broker's view says differently."""
        views = HeldViews(self.registry, _samples((self._sample, *_views(self.brokers.values())))).all
        found = claims(views, self.registry, self._expected)
        return {int(name): found[name] for name in found if name.isdecimal()}

    @cached_property
    def quorum(self) -> Quorum:
        """The metadata quorum, as brokers report it whose views count, and controllers of the cluster file."""
        return Quorum(self._counted_samples)

    @property
    def epoch(self) -> int | None:
        """The epoch of the quorum that half of the reports have reached: one party that claims another does not decide."""
        return _middle(view.leader_epoch for view in self.quorum.now.views)

    @property
    def committed(self) -> int | None:
        """The high watermark of the metadata log, in the same way."""
        return _middle(view.high_watermark for view in self.quorum.now.views)

    @cached_property
    def _counted_samples(self) -> Samples:
        return _samples(self._rows())

    @property
    def _voices(self) -> tuple[BrokerReading, ...]:
        """The brokers whose views count, those among them that list none."""
        any_vouched = any(broker.vouched for broker in self.reading.brokers)
        empty = (broker for broker in self.brokers.values() if broker.listed is not None and not broker.listed.rows)
        return (*self.counted, *(broker for broker in empty if broker.vouched or not any_vouched))

    @property
    def _led(self) -> tuple[QuorumView, ...]:
        """What parties say of the quorum's leader whose word counts."""
        of_brokers = (broker.led for broker in (self._voices if self.kraft else ()))
        of_controllers = (controller.led for controller in self.reading.controllers)
        return tuple(led for led in (*of_brokers, *of_controllers) if led is not None)

    @property
    def _sample(self) -> Sample:
        return Sample(sample=1, started_ms=self.reading.at_ms, finished_ms=self.reading.at_ms, reason="first")

    def _rows(self) -> Iterator[Row]:
        """Yield the rows of an audit that read no more than this; of the views those that count."""
        at_ms, brokers = self.reading.at_ms, self._voices if self.kraft else tuple(self.brokers.values())
        yield self._sample
        yield SnapshotInfo(
            cluster="",
            mode="kraft" if self.kraft else "zookeeper",
            tool_version="",
            started_ms=at_ms,
            finished_ms=at_ms,
            samples=1,
            settle_s=0,
            leader_moves=0,
            skew_s=0,
        )
        if self.zookeeper is not None:
            yield from self.zookeeper.rows
        lists = {broker.listed.digest: broker.listed for broker in self.brokers.values() if broker.listed is not None}
        for listed in lists.values():
            yield from listed.rows
        yield from _views(brokers)
        yield from (_quorum_read(broker) for broker in brokers if broker.quorum != NOT_ASKED)
        yield from self._led
        # One answer is kept of all, and the newest of those that count may be another one of the same moment.
        newest = newest_view(self._led)
        yield from (replace(row, observer=newest.observer) for row in self.reading.replicas if newest is not None)


def _middle(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return median_low(known) if known else None


def _samples(rows: Iterable[Row]) -> Samples:
    return Samples(Snapshot(snapshot_id="", cluster="", cluster_id="", rows=tuple(rows)))


def _views(brokers: Iterable[BrokerReading]) -> Iterator[BrokerView]:
    for broker in brokers:
        if broker.listed is not None:
            yield BrokerView(
                sample=1,
                observer=broker.observer,
                broker_id=UNREGISTERED if broker.broker_id is None else broker.broker_id,
                listener=broker.listener,
                address=broker.address,
                kafka_cluster_id=broker.cluster_id,
                controller_id=broker.controller_id,
                brokers_listed=len(broker.listed.rows),
                topics_listed=0,
                brokers_digest=broker.listed.digest,
                topics_digest="",
                metadata_version=0,
            )


def _quorum_read(broker: BrokerReading) -> SourceRead:
    failure = broker.quorum.failure
    return SourceRead(
        sample=1,
        observer=broker.observer,
        operation=OPERATION,
        target=broker.address,
        outcome="answered" if broker.quorum.answered else "failed",
        error=broker.quorum.error,
        reason=None if failure is None else failure.name,
    )
