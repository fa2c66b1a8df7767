"""Who may do what and who logs in as whom: ACLs of ZooKeeper and brokers, and files of server.properties."""

from dataclasses import dataclass

from kafka_audit.model.tables.row import Row


@dataclass(frozen=True, kw_only=True)
class AclHolder(Row):
    """Who holds which set of ACLs: ZooKeeper (/kafka-acl*), or a broker by DescribeAcls. No row where there is no authorizer."""

    sample: int
    observer: str
    broker_id: int | None  # None for ZooKeeper
    acls_digest: str  # -> Acl; of the sorted set, so equal sets have equal digests
    acls: int  # how many there are


@dataclass(frozen=True, kw_only=True)
class Acl(Row):
    """One ACL of a set, stored once for all that hold the same set. Names are those of kafka-acls.sh."""

    acls_digest: str
    resource_type: str  # Cluster, Topic, Group, TransactionalId, DelegationToken, User
    resource_name: str
    pattern_type: str  # LITERAL, PREFIXED
    principal: str
    host: str
    operation: str  # ClusterAction, Describe, All, …
    permission: str  # ALLOW, DENY


@dataclass(frozen=True, kw_only=True)
class BrokerProperty(Row):
    """One key of a server.properties as Java reads it (a later definition wins); value None where it is a secret."""

    source: str  # path as the cluster file names it, the id filled in
    broker_id: int
    key: str
    value: str | None
    secret: bool
    line: int


@dataclass(frozen=True, kw_only=True)
class PropertyLogin(Row):
    """A login in the JAAS text of a server.properties.

    `password_digest` is an HMAC under a key that is made for one snapshot and thrown away: within the snapshot equal passwords
    show as equal, and nothing else shows.
    """

    source: str
    broker_id: int
    listener: str
    mechanism: str  # PLAIN, SCRAM-SHA-256, …
    side: str  # "client": as whom this broker logs in at others; "server": whom it lets in (PLAIN user_<name>)
    username: str
    password_digest: str
