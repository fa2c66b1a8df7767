"""Which groups, transactions and share groups a partition of Kafka's own topics coordinates, and which of them are known."""

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_audit.cluster.answers.broker_reads import BrokerReads
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.starts.hashes import java_hash
from kafka_audit.differences.tables import InternalTopic
from kafka_audit.model.tables import GroupMember
from kafka_audit.model.text import brokers

_SIGN, _ANY_NAME = 1 << 31, "*"
_SHOW_DESCRIBE = frozenset({"DescribeAcls", "ListPartitionReassignments", "DescribeQuorum", "DescribeLogDirs"})
"""Reads that need Describe on the cluster: with this right ListGroups leaves no group out."""


@dataclass(frozen=True, kw_only=True)
class Coordinated:
    """What the ids are whose state one partition holds."""

    partition: int
    partitions: int  # of the topic: an id has the partition of its hash
    each: str  # what has such an id
    who: str  # for a sentence
    what: str  # they can no longer do
    known: tuple[str, ...]  # those of these ids that the snapshot names, sorted


_KINDS = {
    "__consumer_offsets": ("Group", "consumer group", "groups whose id", "commit or rebalance"),
    "__transaction_state": (
        "TransactionalId",
        "transactional producer",
        "producers whose transactional id",
        "begin or end a transaction",
    ),
    # `SharePartitionKey.asCoordinatorKey`: which partitions a share group reads is not known.
    "__share_group_state": (
        "SharePartition",
        "share group",
        "share groups whose key GROUP:TOPIC_ID:PARTITION",
        "acquire or acknowledge records",
    ),
}


def coordinated_by(view: ClusterView, topic: str, partition: int) -> Coordinated | None:
    """Return what a partition coordinates, None for one of another topic."""
    partitions = next((row.partitions for row in view.differences.of(InternalTopic) if row.topic == topic), 0)
    if topic not in _KINDS or not partitions:
        return None
    kind, each, who, what = _KINDS[topic]
    known = tuple(sorted(name for name, number in view.derived(_known)[kind].items() if number % partitions == partition))
    return Coordinated(partition=partition, partitions=partitions, each=each, who=who, what=what, known=known)


def has_topic(view: ClusterView, topic: str) -> bool:
    """Return whether one of Kafka's own topics is listed."""
    return any(row.topic == topic for row in view.differences.of(InternalTopic))


def lists_all_groups(view: ClusterView) -> bool:
    """Return whether ListGroups leaves no group out for lack of a right."""
    if all(view.inter_broker.authorizer(broker).state == "unset" for broker in view.brokers):
        return True
    return any(read.operation in _SHOW_DESCRIBE and read.outcome == "answered" for read in view.last_reads)


def unused(view: ClusterView, topic: str) -> Mapping[str, str] | None:
    """Return why one of Kafka's own topics may be there and not be listed; None if it is not there. Ask only if it is not listed.

    In KRaft brokers list only topics that the auditor may describe, and no error.
    """
    listed = view.partitions.count.topics or not view.kraft
    if listed or all(view.inter_broker.authorizer(broker).state == "unset" for broker in view.brokers):
        return None
    return {"error": f"no topic is listed, so that {topic} may be there", "needs": "Describe on Topic '*'"}


def groups_gap(view: ClusterView, read: str, what: str, needs: str) -> Mapping[str, str] | None:
    """Return why a group of those that a read names may be missing, None if none is."""
    reads = BrokerReads(view.last_reads, read)
    silent = [broker for broker in reads.brokers if not reads.answered(broker)]
    if silent:
        default = {"error": f"{brokers(silent)} did not {what}", "needs": needs}
        return next((gap for broker in silent if (gap := reads.gap(broker)) is not None), default)
    if not reads.brokers:
        return {"error": "no broker was read", "needs": "a broker that answers ListGroups"}
    if not lists_all_groups(view):
        return {"error": "groups that the auditor may not describe are left out", "needs": "Describe on Cluster"}
    return None


def id_number(name: str) -> int:
    """Return `Utils.abs(id.hashCode)` of a group or transactional id: modulo the partitions of the topic, it is its partition."""
    found = java_hash(name)
    return found if found < _SIGN else (2 * _SIGN - found) % _SIGN


def _known(view: ClusterView) -> Mapping[str, Mapping[str, int]]:
    """Return the ids that ACLs name, and groups that were asked for: no broker lists those whose partition has no leader."""
    found: dict[str, dict[str, int]] = {kind: {} for kind, *_ in _KINDS.values()}
    for row in (*view.of(GroupMember), *view.earlier(GroupMember)):
        found["Group"][row.group] = id_number(row.group)
    sets = (view.inter_broker.acls(broker) for broker in view.inter_broker.brokers)
    for acl in next((acls for acls in sets if acls is not None), ()):
        if acl.resource_type in found and acl.pattern_type == "LITERAL" and acl.resource_name != _ANY_NAME:
            found[acl.resource_type][acl.resource_name] = id_number(acl.resource_name)
    return found
