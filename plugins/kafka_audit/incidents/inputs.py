"""Which reads a check's tables come from, so that "no row" can be told from "could not be read"."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Resource
from kafka_audit.model.tables import (
    Acl,
    AclHolder,
    BrokerApi,
    BrokerConfig,
    BrokerFeature,
    BrokerIdentity,
    BrokerProperty,
    BrokerView,
    Certificate,
    ControllerProbe,
    DynamicConfig,
    EligibleReplicas,
    EnsembleServer,
    FencedBroker,
    GroupMember,
    LeadershipAnswer,
    LeadershipAsked,
    LogDir,
    LogDirReplica,
    LogLine,
    Migration,
    OldTransaction,
    Probe,
    PropertyLogin,
    QuorumReplica,
    QuorumView,
    Reassignment,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    ScramUser,
    SourceRead,
    TopicConfig,
    ViewBroker,
    ViewPartition,
    ViewTopic,
    ZookeeperMember,
    ZookeeperNode,
)


def _zookeeper(read: SourceRead) -> bool:
    # With zookeeper.set.acl=true the sets about security are never readable; what is registered is read all the same.
    return read.observer == "zookeeper" and not _ASIDE(read)


def _controllers(read: SourceRead) -> bool:
    return read.observer.startswith("controller@")


def _members(read: SourceRead) -> bool:
    return read.observer.startswith("zookeeper@")


def _properties(read: SourceRead) -> bool:
    return read.observer.startswith("properties:")


def _logs(read: SourceRead) -> bool:
    return read.observer.startswith("logs:")


def _starts(*words: str) -> Callable[[SourceRead], bool]:
    return lambda read: read.operation.lower().startswith(words)


# A broker that does not even answer ApiVersions gives none of the others, and may have no row for them.
_VIEW = _starts("metadata", "describecluster", "apiversions")
_CONFIG = _starts("describeconfigs", "identity", "apiversions")

_ASIDE = _starts("zookeeper /kafka-acl", "zookeeper /config/")
_MOVES = _starts("listpartitionreassignments", "zookeeper /admin/reassign_partitions", "zookeeper /brokers/topics", "apiversions")
_QUORUM = _starts("describequorum", "apiversions")
_ACLS = _starts("zookeeper /kafka-acl", "describeacls", "apiversions")

_SOURCE: Mapping[type[Row], Callable[[SourceRead], bool]] = MappingProxyType(
    {
        Registry: _zookeeper,
        RegisteredBroker: _zookeeper,
        RegisteredEndpoint: _zookeeper,
        RegisteredTopic: _zookeeper,
        RegisteredPartition: _zookeeper,
        BrokerView: _VIEW,
        ViewBroker: _VIEW,
        ViewTopic: _VIEW,
        ViewPartition: _VIEW,
        BrokerIdentity: _CONFIG,
        BrokerConfig: _CONFIG,
        BrokerApi: _starts("apiversions"),
        BrokerFeature: _starts("apiversions"),
        Probe: _starts("probe"),
        Certificate: _starts("probe"),
        AclHolder: _ACLS,
        Acl: _ACLS,
        DynamicConfig: _starts("zookeeper /config/brokers"),
        ScramUser: _starts("zookeeper /config/users"),
        LogDir: _starts("describelogdirs", "apiversions"),
        LogDirReplica: _starts("describelogdirs", "apiversions"),
        LeadershipAsked: _starts("listoffsets", "apiversions"),
        LeadershipAnswer: _starts("listoffsets", "apiversions"),
        OldTransaction: _starts("read_committed offsets", "apiversions"),
        EligibleReplicas: _starts("describetopicpartitions"),
        GroupMember: _starts("describegroups"),
        Reassignment: _MOVES,
        TopicConfig: _starts("zookeeper /config/topics", "describeconfigs topic", "apiversions"),
        BrokerProperty: _properties,
        PropertyLogin: _properties,
        LogLine: _logs,
        QuorumView: _QUORUM,
        QuorumReplica: _QUORUM,
        FencedBroker: _starts("describecluster", "apiversions"),
        ControllerProbe: _controllers,
        Migration: _starts("zookeeper /migration"),
        ZookeeperMember: _members,
        EnsembleServer: _starts("zookeeper access and size"),
        ZookeeperNode: _starts("zookeeper access and size"),
    }
)


def failed_inputs(view: ClusterView, needs: Iterable[type[Row]], resource: str) -> tuple[SourceRead, ...]:
    """Return the failed reads that tables in `needs` come from and that could have spoken of `resource`.

    A resource below `broker/2` hangs on broker 2's own answers, on ZooKeeper, files and probes, not on what another broker says.
    """
    tables = frozenset(needs)
    sources = [_SOURCE[table] for table in tables if table in _SOURCE]
    if RegisteredEndpoint in tables and view.kraft:
        sources += [_VIEW, _CONFIG, _properties]  # lists and settings stand in for what nobody registers
    broker = Resource.of(resource).broker
    return tuple(
        read
        for read in view.last_reads
        if read.outcome == "failed" and any(source(read) for source in sources) and not _of_another(read, broker)
    )


def _of_another(read: SourceRead, broker: int | None) -> bool:
    return broker is not None and read.observer.startswith("broker:") and read.observer != f"broker:{broker}"
