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
    ControllerConfig,
    ControllerProbe,
    LogLine,
    ProcessLine,
    PropertyLogin,
    QuorumReplica,
    QuorumView,
    QuorumVoter,
    Reassignment,
    RegisteredBroker,
    RegisteredController,
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

_CONTROLLER = "controller@"
_OF_QUORUM = frozenset({QuorumView, QuorumReplica, QuorumVoter, RegisteredController})
_OF_EACH_NODE = (BrokerConfig, ControllerConfig)
"""Tables with answers of controllers: of the quorum, and of each node about itself."""

_ASKED_FIRST = "ApiVersions"
"""A broker that does not even answer this gives nothing else, and may have no row for it."""


def _source(table: type[Row]) -> _Source:
    """Return which reads a table without rows may come from."""
    filled = table.filled_by
    of_brokers = any(not operation.startswith((ZOOKEEPER, "probe")) for operation in filled)
    own, first = _starts(*filled, *_MORE.get(table, ())), _starts(_ASKED_FIRST)

    def fills(read: SourceRead) -> bool:
        asked_itself = table in _OF_QUORUM or table in _OF_EACH_NODE or not read.observer.startswith(_CONTROLLER)
        return own(read) or (of_brokers and asked_itself and first(read))

    return _BY_OBSERVER.get(table) or fills


_SOURCE: Mapping[type[Row], _Source] = MappingProxyType({table: _source(table) for table in TABLES if table.filled_by})


def failed_inputs(view: ClusterView, needs: Iterable[type[Row]], resource: str) -> tuple[SourceRead, ...]:
    """Return the failed reads that tables in `needs` come from and that could concern `resource`.

    A resource below `broker/2` hangs on broker 2's own answers, on ZooKeeper, files and probes, not on what another node says.
    """
    about, tables = Resource.of(resource), frozenset(needs)
    sources = [_SOURCE[table] for table in tables if table in _SOURCE]
    of_controllers = sources if about.broker is None else [_SOURCE[table] for table in tables & _OF_QUORUM]
    if RegisteredEndpoint in tables and view.kraft:
        sources += [_SOURCE[BrokerView], _SOURCE[BrokerConfig], _PROPERTIES]  # lists and settings replace registrations
    found = (
        read
        for read in view.last_reads
        if read.outcome == "failed"
        and any(source(read) for source in (of_controllers if read.observer.startswith(_CONTROLLER) else sources))
        and not _of_another(view, read, about)
    )
    # What brokers say of controllers comes after what they would have said themselves.
    return tuple(sorted(found, key=lambda read: about.type == "controller" and not read.observer.startswith(_CONTROLLER)))


def _of_another(view: ClusterView, read: SourceRead, about: Resource) -> bool:
    """Return whether a read is of a broker that is another node than that of a resource."""
    if about.broker is None or not read.observer.startswith(("broker:", "broker@")):
        return False
    name = view.reads.resources[read.observer].removeprefix("broker/")
    # An address without a known broker may be that of any broker that was not asked under its own name.
    return name != str(about.broker) and (name.isdecimal() or view.reads.answered(about.broker))
