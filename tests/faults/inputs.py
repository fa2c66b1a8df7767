"""Takes one input away from a snapshot: a vantage, a log, a file, a right, a sample. What is left is what an audit would hold."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from functools import cache

from kafka_audit.model.tables import (
    TABLES,
    AddressProbe,
    BrokerProperty,
    Certificate,
    ControllerProbeFromBroker,
    LogLine,
    Probe,
    PropertyLogin,
    RegisteredPartition,
    RegisteredTopic,
    Row,
    Sample,
    Snapshot,
    SnapshotInfo,
    SourceRead,
    VoterProbe,
    ZookeeperProbe,
)
from testbed.corpus.inputs import DEFAULT, INPUTS, of_operator

RIGHTS = ("DescribeConfigs", "DescribeAcls", "DescribeLogDirs", "DescribeQuorum", "ListOffsets", "ListGroups", "DescribeGroups")
"""Operations of brokers that an auditor without a right is refused."""
ZNODES = ("zookeeper /kafka-acl", "zookeeper /config/brokers", "zookeeper /config/users", "zookeeper /config/topics")
"""Reads of ZooKeeper that its ACLs may refuse, while the registry is open."""

Keeps = Callable[[Row], bool]


def without_each(snapshot: Snapshot) -> Iterator[tuple[str, Snapshot]]:
    """Yield the name of each input that a snapshot has, and the snapshot without it; the same rows only once."""
    known = {_identity(snapshot): snapshot}  # which keeps the rows: another one would get the identity of one that is gone
    for name, left in _without_each(snapshot):
        if known.setdefault(_identity(left), left) is left:
            yield name, left


def _identity(snapshot: Snapshot) -> tuple[int, ...]:
    """Return which rows a snapshot has; two snapshots of the same rows have one document."""
    return tuple(map(id, snapshot.rows))


def _without_each(snapshot: Snapshot) -> Iterator[tuple[str, Snapshot]]:
    for name, keeps in (*_vantages(snapshot), *_logs(snapshot), *_files(snapshot)):
        yield name, _with(snapshot, filter(keeps, snapshot.rows))
    yield "logs and files", _with(snapshot, (row for row in snapshot.rows if not of_operator(row)))
    yield "logs, files and vantages", INPUTS[DEFAULT](snapshot)
    for operation in (*RIGHTS, *ZNODES):
        if any(_is(read, operation) and read.outcome == "answered" for read in snapshot.of(SourceRead)):
            yield f"right to {operation}", _with(snapshot, _refused(snapshot, operation))
    yield from _samples(snapshot)


def _with(snapshot: Snapshot, rows: Iterable[Row]) -> Snapshot:
    return replace(snapshot, rows=tuple(rows))


def _vantages(snapshot: Snapshot) -> Iterator[tuple[str, Keeps]]:
    probes = snapshot.of(Probe)
    for vantage in sorted({probe.vantage for probe in probes}):
        yield f"vantage {vantage}", lambda row, vantage=vantage: not _of_vantage(row, vantage)
    sides = sorted({(probe.vantage, probe.from_broker) for probe in probes if probe.from_broker is not None})
    for vantage, broker in sides if len(sides) > 1 else ():
        yield (
            f"vantage {vantage} at broker {broker}",
            lambda row, vantage=vantage, broker=broker: not _of_vantage(row, vantage, broker),
        )


def _of_vantage(row: Row, vantage: str, broker: int | None = None) -> bool:
    match row:
        case Probe() | AddressProbe() | ControllerProbeFromBroker() | ZookeeperProbe():
            return row.vantage == vantage and broker in {None, row.from_broker}
        case VoterProbe():
            return row.vantage == vantage and broker in {None, row.from_controller}
        case Certificate():
            return row.vantage == vantage and broker is None
        case SourceRead():
            return row.operation == f"probe {vantage}" and (broker is None or row.observer == f"broker:{broker}")
    return False


def _of_broker(snapshot: Snapshot, what: str, observer: str, tables: tuple[type[Row], ...]) -> Iterator[tuple[str, Keeps]]:
    held = {row.broker_id for table in tables for row in snapshot.of(table)}
    held |= {int(read.observer[len(observer) :]) for read in snapshot.of(SourceRead) if _names(read, observer)}
    for broker in sorted(held):
        yield (
            f"{what} of {broker}",
            lambda row, broker=broker: (
                not (
                    (isinstance(row, tables) and row.broker_id == broker)
                    or (isinstance(row, SourceRead) and row.observer == f"{observer}{broker}")
                )
            ),
        )
    if len(held) > 1:
        yield (
            f"every {what}",
            lambda row: not (isinstance(row, tables) or (isinstance(row, SourceRead) and row.observer.startswith(observer))),
        )


def _names(read: SourceRead, observer: str) -> bool:
    return read.observer.startswith(observer) and read.observer[len(observer) :].isdecimal()


def _logs(snapshot: Snapshot) -> Iterator[tuple[str, Keeps]]:
    return _of_broker(snapshot, "log", "logs:", (LogLine,))


def _files(snapshot: Snapshot) -> Iterator[tuple[str, Keeps]]:
    return _of_broker(snapshot, "file", "properties:", (BrokerProperty, PropertyLogin))


def _is(read: SourceRead, operation: str) -> bool:
    zookeeper = operation.startswith("zookeeper ")
    return read.operation.startswith(operation) and (read.observer == "zookeeper") is zookeeper


@cache
def _tables(operation: str) -> frozenset[type[Row]]:
    return frozenset(table for table in TABLES if any(one.startswith(operation) for one in table.filled_by))


def _refused(snapshot: Snapshot, operation: str) -> Iterator[Row]:
    zookeeper = operation.startswith("zookeeper ")
    error = "NoAuthError" if zookeeper else "CLUSTER_AUTHORIZATION_FAILED"
    for row in snapshot.rows:
        if isinstance(row, SourceRead) and _is(row, operation) and row.outcome == "answered":
            yield replace(row, outcome="failed", error=error, needs=f"the right to {operation}")
        elif type(row) not in _tables(operation) or not _is_filled_by(row, zookeeper=zookeeper):
            yield row


def _is_filled_by(row: Row, *, zookeeper: bool) -> bool:
    """Return whether a row of a table that both may fill is of ZooKeeper, or of brokers; one without observer is of either."""
    observer = getattr(row, "observer", None)
    return observer is None or (observer == "zookeeper") is zookeeper


def _samples(snapshot: Snapshot) -> Iterator[tuple[str, Snapshot]]:
    samples = {row.sample: row for row in snapshot.of(Sample)}
    if len(samples) != 2:
        return
    first, second = sorted(samples)
    yield "second sample", _with(snapshot, _of_sample(snapshot, first))
    if samples[second].asked_again is None and samples[second].topics_again is None:
        yield "first sample", _with(snapshot, _of_sample(snapshot, second))


def _of_sample(snapshot: Snapshot, sample: int) -> Iterator[Row]:
    for row in snapshot.rows:
        if isinstance(row, SnapshotInfo):
            yield replace(row, samples=1)
        elif isinstance(row, RegisteredTopic | RegisteredPartition):
            if row.sample <= sample <= row.last_sample:
                yield replace(row, sample=1, last_sample=1)
        elif "sample" not in _columns(type(row)):
            yield row
        elif row.sample == sample:  # type: ignore[attr-defined]
            yield replace(row, sample=1)  # type: ignore[call-arg]


@cache
def _columns(table: type[Row]) -> frozenset[str]:
    return frozenset(field.name for field in fields(table))
