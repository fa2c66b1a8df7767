"""The reads behind the tables of a check, to distinguish "no row" from "could not be read"."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Resource
from kafka_audit.model.tables import (
    TABLES,
    ZOOKEEPER,
    BrokerConfig,
    BrokerIdentity,
    BrokerProperty,
    BrokerView,
    ControllerProbe,
    LogLine,
    ProcessLine,
    PropertyLogin,
    Reassignment,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    SourceRead,
    ViewBroker,
    ViewPartition,
    ViewTopic,
    ZookeeperMember,
)

_Source = Callable[[SourceRead], bool]


def _zookeeper(read: SourceRead) -> bool:
    # With zookeeper.set.acl=true the sets about security are never readable; registrations are still read.
    return read.observer == "zookeeper" and not _ASIDE(read)


def _by(observer: str) -> _Source:
    return lambda read: read.observer.startswith(observer)


def _starts(*operations: str) -> _Source:
    prefixes = tuple(operation.lower() for operation in operations)
    return lambda read: read.operation.lower().startswith(prefixes)


_ASIDE = _starts("zookeeper /kafka-acl", "zookeeper /config/")
_PROPERTIES = _by("properties:")

_BY_OBSERVER: Mapping[type[Row], _Source] = MappingProxyType(
    {
        **dict.fromkeys((Registry, RegisteredBroker, RegisteredEndpoint, RegisteredTopic, RegisteredPartition), _zookeeper),
        BrokerProperty: _PROPERTIES,
        PropertyLogin: _PROPERTIES,
        LogLine: _by("logs:"),
        ProcessLine: _by("logs:"),
        ControllerProbe: _by("controller@"),
        ZookeeperMember: _by("zookeeper@"),
    }
)
"""Tables that any failed read of an observer may have left without rows, whatever the operation."""

_MORE: Mapping[type[Row], tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys((BrokerView, ViewBroker, ViewTopic, ViewPartition), ("DescribeCluster",)),  # the same view in KRaft
        **dict.fromkeys((BrokerIdentity, BrokerConfig), ("DescribeConfigs", "identity")),  # each shows settings and id
        Reassignment: ("zookeeper /admin/reassign_partitions",),  # the reassignments in progress
    }
)
"""Operations without which the rows of a table are not whole, besides those that fill it."""

_ASKED_FIRST = "ApiVersions"
"""A broker that does not even answer this gives nothing else, and may have no row for it."""


def _source(table: type[Row]) -> _Source:
    """Return which reads a table without rows may come from."""
    filled = table.filled_by
    of_brokers = any(not operation.startswith((ZOOKEEPER, "probe")) for operation in filled)
    return _BY_OBSERVER.get(table) or _starts(*filled, *_MORE.get(table, ()), *((_ASKED_FIRST,) if of_brokers else ()))


_SOURCE: Mapping[type[Row], _Source] = MappingProxyType({table: _source(table) for table in TABLES if table.filled_by})


def failed_inputs(view: ClusterView, needs: Iterable[type[Row]], resource: str) -> tuple[SourceRead, ...]:
    """Return the failed reads that tables in `needs` come from and that could concern `resource`.

    A resource below `broker/2` hangs on broker 2's own answers, on ZooKeeper, files and probes, not on what another broker says.
    """
    tables = frozenset(needs)
    sources = [_SOURCE[table] for table in tables if table in _SOURCE]
    if RegisteredEndpoint in tables and view.kraft:
        sources += [_SOURCE[BrokerView], _SOURCE[BrokerConfig], _PROPERTIES]  # lists and settings replace registrations
    broker = Resource.of(resource).broker
    return tuple(
        read
        for read in view.last_reads
        if read.outcome == "failed" and any(source(read) for source in sources) and not _of_another(read, broker)
    )


def _of_another(read: SourceRead, broker: int | None) -> bool:
    return broker is not None and read.observer.startswith("broker:") and read.observer != f"broker:{broker}"
