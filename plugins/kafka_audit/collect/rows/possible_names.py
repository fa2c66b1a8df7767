"""Rows without names that no cluster has. Pure.

Hosts that are dialled and topics, which are columns, are refused by the readers of Metadata and of znodes. All other names come
through here: a row with such a name is left out, and one failed read says of whom it came, how many there were, and the first.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.model.asked_again import ZOOKEEPER
from kafka_audit.model.names import NameKind, RefusedNames, can_be_name
from kafka_audit.model.tables import (
    Acl,
    AclHolder,
    BrokerConfig,
    BrokerFeature,
    ControllerConfig,
    DynamicConfig,
    EligibleReplicas,
    EnsembleServer,
    GroupMember,
    LogDir,
    LogDirReplica,
    OldTransaction,
    PropertyLogin,
    QuorumVoter,
    Quota,
    QuotaUser,
    Reassignment,
    RebalancingGroup,
    Row,
    ScramUser,
    SharePartition,
    ZookeeperNode,
)

_NAMES: Mapping[type[Row], tuple[str, Mapping[str, NameKind]]] = MappingProxyType(
    {
        Acl: ("ACLs", {"resource_name": NameKind.RESOURCE, "principal": NameKind.PRINCIPAL, "host": NameKind.RESOURCE}),
        BrokerConfig: ("DescribeConfigs BROKER", {"key": NameKind.SETTING}),
        ControllerConfig: ("DescribeConfigs BROKER", {"key": NameKind.SETTING}),
        BrokerFeature: ("ApiVersions", {"feature": NameKind.SETTING}),
        DynamicConfig: ("zookeeper /config/brokers", {"key": NameKind.SETTING}),
        EligibleReplicas: ("DescribeTopicPartitions", {"topic": NameKind.TOPIC}),
        EnsembleServer: ("zookeeper /zookeeper/config", {"host": NameKind.HOST}),
        GroupMember: ("DescribeGroups", {"group": NameKind.GROUP, "host": NameKind.RESOURCE, "client_id": NameKind.RESOURCE}),
        LogDir: ("DescribeLogDirs", {"path": NameKind.PATH}),
        LogDirReplica: ("DescribeLogDirs", {"path": NameKind.PATH, "topic": NameKind.TOPIC}),
        OldTransaction: ("ListOffsets", {"topic": NameKind.TOPIC}),
        PropertyLogin: ("properties", {"listener": NameKind.RESOURCE, "username": NameKind.PRINCIPAL}),
        QuorumVoter: ("DescribeQuorum", {"listener": NameKind.LISTENER, "host": NameKind.HOST}),
        Quota: (
            "quotas",
            {"user": NameKind.RESOURCE, "client_id": NameKind.RESOURCE, "address": NameKind.RESOURCE},
        ),
        QuotaUser: ("quotas of users", {"user": NameKind.PRINCIPAL}),
        Reassignment: ("reassignments", {"topic": NameKind.TOPIC}),
        RebalancingGroup: ("DescribeGroups rebalancing", {"group": NameKind.GROUP}),
        SharePartition: ("DescribeShareGroupOffsets", {"group": NameKind.GROUP, "topic": NameKind.TOPIC}),
        ScramUser: ("zookeeper /config/users", {"user": NameKind.PRINCIPAL}),
        ZookeeperNode: ("zookeeper /", {"path": NameKind.PATH}),
    }
)
"""The read that a table comes from, and its columns that are names of a cluster."""


def without_impossible_names(rows: Iterable[Row], sample: int) -> tuple[Row, ...]:
    """Return the rows, those with a name that no cluster has replaced by a failed read for each party and read.

    Args:
        rows: of one snapshot.
        sample: of the rows that are of none.
    """
    found: list[Row] = []
    holders: dict[str, str] = {}
    refused: dict[tuple[int, str, str], RefusedNames] = {}
    for row in rows:
        if isinstance(row, AclHolder):
            holders.setdefault(row.acls_digest, row.observer)
        operation, names = _NAMES.get(type(row), ("", {}))
        named = ((kind, getattr(row, column)) for column, kind in names.items())
        odd = next(((kind, name) for kind, name in named if name is not None and not can_be_name(kind, name)), None)
        if odd is None:
            found.append(row)
            continue
        key = getattr(row, "sample", sample), _observer(row, holders), operation
        refused.setdefault(key, RefusedNames()).add(odd[0].value, odd[1])
    for (number, observer, operation), odd_names in refused.items():
        found.append(Asking(sample=number, observer=observer, target=observer).failed_names(operation, odd_names.text or ""))
    return tuple(found)


def _observer(row: Row, holders: Mapping[str, str]) -> str:
    """Return whose word a row is."""
    match row:
        case Acl():
            return holders.get(row.acls_digest, ZOOKEEPER)
        case PropertyLogin():
            return f"properties:{row.broker_id}"
        case _:
            return str(getattr(row, "observer", ZOOKEEPER))
