"""What a watch would have read of a recorded cluster: of each sample, the few answers that it asks for."""

from collections import defaultdict
from dataclasses import replace

from kafka_audit.clients.read_error import ReadError
from kafka_audit.cluster.samples import Samples
from kafka_audit.model.tables import (
    BrokerApi,
    BrokerFeature,
    BrokerView,
    Migration,
    QuorumReplica,
    QuorumView,
    RegisteredBroker,
    RegisteredEndpoint,
    Registry,
    SourceRead,
    ViewBroker,
)
from kafka_audit.watch.reading import (
    ANSWERED,
    NOT_ASKED,
    BrokerReading,
    ControllerReading,
    Reading,
    ReadList,
    ZookeeperReading,
    failed_answer,
)

QUORUM = 55
EVERY_MS = 40_000
"""Between two readings: longer than a restart is waited for."""


def recorded_readings(snapshot):
    """Return a reading of each of the last two samples, and a third, in which the metadata log goes on.

    Of a single sample there are two readings, which say nothing of what brokers apply.
    """
    samples = Samples(snapshot)
    before, now = (number for number in reversed(samples.numbers))
    if before is None:
        return [_reading(samples, now, turn * EVERY_MS, {}) for turn in (0, 1)]
    applied = _applied(snapshot)
    first, second = (
        _reading(samples, number, turn * EVERY_MS, {broker: offsets[turn] for broker, offsets in applied.items()})
        for turn, number in enumerate((before, now))
    )
    return [first, second, _third(first, second)]


def _third(first, second):
    """Return a reading like the first one, after as many more records; who applied none between the two applies none.

    What one sample alone shows is in no two readings in a row.
    """
    more = max(map(_committed, second.brokers), default=0) - max(map(_committed, first.brokers), default=0)
    offsets = {broker.broker_id: broker.applied for broker in second.brokers}

    def after(broker):
        later = offsets.get(broker.broker_id)
        moves = broker.applied is not None and later is not None
        return replace(
            broker,
            led=broker.led and replace(broker.led, high_watermark=broker.led.high_watermark + 2 * more),
            applied=later + (later - broker.applied) if moves else broker.applied,
        )

    ends = {row.replica_id: row.log_end_offset for row in second.replicas}
    replicas = (replace(row, log_end_offset=ends.get(row.replica_id)) for row in first.replicas)
    brokers = tuple(map(after, first.brokers))
    return replace(first, at_ms=second.at_ms + EVERY_MS, brokers=brokers, replicas=tuple(replicas))


def _committed(broker):
    return broker.led.high_watermark if broker.led else 0


def _applied(snapshot):
    """Return the offsets that each broker had applied in both samples: their rows name no sample, and offsets only rise."""
    found = defaultdict(set)
    for row in snapshot.of(BrokerFeature):
        if row.finalized_epoch is not None:
            found[row.broker_id].add(row.finalized_epoch)
    return {broker: (min(offsets), max(offsets)) for broker, offsets in found.items()}


def _reading(samples, number, at_ms, applied):
    reads = defaultdict(dict)
    for row in samples.at(SourceRead, number):
        reads[row.observer].setdefault(row.operation, []).append(row)
    kraft = {row.broker_id for row in samples.of(BrokerApi) if row.api_key == QUORUM}
    led = {row.observer: replace(row, sample=1) for row in samples.at(QuorumView, number)}
    newest = max(led.values(), key=lambda view: (view.leader_epoch, view.high_watermark), default=None)
    named = [name for name in reads if name.startswith("broker:")]
    return Reading(
        at_ms=1_000_000 + at_ms,
        brokers=tuple(_broker(samples, number, name, reads[name], led.get(name), kraft, applied) for name in sorted(named)),
        controllers=tuple(
            ControllerReading(address=name.partition("@")[2], answer=_ended(asked.get("DescribeQuorum")), led=led.get(name))
            for name, asked in sorted(reads.items())
            if name.startswith("controller@")
        ),
        zookeeper=None if samples.kraft else _zookeeper(samples, number),
        replicas=tuple(
            replace(row, sample=1) for row in samples.at(QuorumReplica, number) if newest and row.observer == newest.observer
        ),
    )


def _broker(samples, number, name, reads, led, kraft, applied):  # noqa: PLR0913, PLR0917 -- what it said
    broker = int(name.partition(":")[2])
    views = [row for row in samples.at(BrokerView, number) if row.observer == name]
    view = views[0] if views else None
    lists = view and tuple(row for row in samples.of(ViewBroker) if row.brokers_digest == view.brokers_digest)
    return BrokerReading(
        broker_id=broker,
        address=view.address if view else next(iter(reads.values()))[0].target,
        listener=view.listener if view else "bootstrap",
        api_versions=_ended(reads.get("ApiVersions")),
        metadata=_ended(reads.get("Metadata")),
        quorum=_ended(reads.get("DescribeQuorum")),
        kraft=broker in kraft,
        listed=view and ReadList(digest=view.brokers_digest, rows=lists),
        cluster_id=view and view.kafka_cluster_id,
        controller_id=view and view.controller_id,
        led=led,
        applied=applied.get(broker) if broker in kraft else None,
    )


def _zookeeper(samples, number):
    failed = [row for row in samples.at(SourceRead, number) if row.observer == "zookeeper" and row.outcome == "failed"]
    if not samples.at(Registry, number):
        return ZookeeperReading(answer=_ended(failed))
    tables = (Registry, RegisteredBroker, RegisteredEndpoint, Migration)
    rows = (replace(row, sample=1) for table in tables for row in samples.at(table, number))
    return ZookeeperReading(answer=ANSWERED, rows=tuple(rows))


def _ended(reads):
    """Return how reads of one operation ended: a watch asks at one address, where it is answered if at any."""
    if not reads or any(read.outcome == "answered" for read in reads):
        return ANSWERED if reads else NOT_ASKED
    return failed_answer(ReadError(reads[0].failure, error=reads[0].error))
