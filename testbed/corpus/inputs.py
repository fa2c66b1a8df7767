"""What an audit would hold of a cluster with fewer inputs, by what the matrix of causes calls these."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    AddressProbe,
    BrokerApi,
    BrokerFeature,
    BrokerProperty,
    BrokerView,
    Certificate,
    ControllerProbeFromBroker,
    LogLine,
    Probe,
    PropertyLogin,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    Sample,
    Snapshot,
    SnapshotInfo,
    SourceRead,
    ViewBroker,
    ViewPartition,
    ViewTopic,
    VoterProbe,
    ZookeeperProbe,
)


def of_operator(row: Row) -> bool:
    """Return whether only a cluster file that names logs and files gives this row."""
    return isinstance(row, LogLine | BrokerProperty | PropertyLogin) or _is_of(row, "logs:", "properties:")


def _with(snapshot: Snapshot, rows: Iterable[Row]) -> Snapshot:
    return replace(snapshot, rows=tuple(rows))


def _all(snapshot: Snapshot) -> Snapshot:
    return snapshot


def _without_vantages(snapshot: Snapshot) -> Snapshot:
    """Keep only the worker's own probes: no vantage of the cluster file starts on the host of a broker."""
    names = {probe.vantage for probe in snapshot.of(Probe) if probe.from_broker is not None}
    names |= {probe.vantage for probe in snapshot.of(ControllerProbeFromBroker)}
    names |= {probe.vantage for probe in snapshot.of(ZookeeperProbe)}
    names |= {probe.vantage for probe in snapshot.of(VoterProbe) if probe.from_controller is not None}
    observers = {f"vantage:{name}" for name in names}

    def is_theirs(row: Row) -> bool:
        if isinstance(row, Probe | AddressProbe | ControllerProbeFromBroker | VoterProbe | ZookeeperProbe | Certificate):
            return row.vantage in names
        return isinstance(row, SourceRead) and row.observer in observers

    rows = (replace(row, broker_vantages=0) if isinstance(row, SnapshotInfo) else row for row in snapshot.rows)
    return _with(snapshot, (row for row in rows if not is_theirs(row)))


def _without_logs(snapshot: Snapshot) -> Snapshot:
    return _with(snapshot, (row for row in snapshot.rows if not (isinstance(row, LogLine) or _is_of(row, "logs:"))))


def _default(snapshot: Snapshot) -> Snapshot:
    """Keep only what a cluster file with addresses and a login gives."""
    return _with(snapshot, (row for row in _without_vantages(snapshot).rows if not of_operator(row)))


def _metadata_alone(snapshot: Snapshot) -> Snapshot:
    """Keep only what brokers report to an auditor without rights: Metadata, and ApiVersions, which needs none.

    Every other read of a broker is refused, and nothing is probed. ZooKeeper's registry is left, with which views are compared.
    """
    left: list[Row] = []
    for row in _default(snapshot).rows:
        if isinstance(row, SourceRead) and _is_of(row, "broker:", "broker@"):
            open_to_all = row.operation in _OPEN_READS or row.outcome != "answered"
            refused = replace(row, outcome="failed", error=_REFUSED.words, reason=_REFUSED.name, needs="a right")
            left.append(row if open_to_all else refused)
        elif isinstance(row, _OPEN_TABLES) or (isinstance(row, SourceRead) and row.operation.startswith(_REGISTRY_READS)):
            left.append(row)
    return _with(snapshot, left)


def _is_of(row: Row, *observers: str) -> bool:
    return isinstance(row, SourceRead) and row.observer.startswith(observers)


_REFUSED, _OPEN_READS = ReadFailure.NOT_AUTHORIZED, ("Metadata", "ApiVersions")
_REGISTRY_READS = tuple(f"zookeeper {path}" for path in ("/brokers/", "/controller", "/cluster/id", "/admin/delete_topics"))
_OPEN_TABLES = (
    *(SnapshotInfo, Sample, BrokerView, ViewBroker, ViewTopic, ViewPartition, BrokerApi, BrokerFeature),
    *(Registry, RegisteredBroker, RegisteredEndpoint, RegisteredTopic, RegisteredPartition),
)

ALL_INPUTS, DEFAULT, METADATA_ALONE = "with all inputs", "without vantages, logs and files", "with Metadata alone"
INPUTS: Mapping[str, Callable[[Snapshot], Snapshot]] = {
    ALL_INPUTS: _all,
    "without vantages": _without_vantages,
    "without logs": _without_logs,
    DEFAULT: _default,
    METADATA_ALONE: _metadata_alone,
}
"""What an audit holds with these inputs, fewer from one to the next but for the third."""
