"""ACLs of ZooKeeper and brokers, and settings and logins in server.properties."""

from kafka_audit.model.tables.row import Row


class AclHolder(Row, filled_by=("DescribeAcls", "zookeeper /kafka-acl")):
    """The set of ACLs that ZooKeeper (/kafka-acl*) or a broker (DescribeAcls) has. No row without an authorizer."""

    sample: int
    observer: str
    broker_id: int | None  # None for ZooKeeper
    acls_digest: str  # key of Acl; equal sets have equal digests
    acls: int  # number of ACLs


class Acl(Row, filled_by=("DescribeAcls", "zookeeper /kafka-acl")):
    """One ACL of a set. Equal sets are stored once. Names are those of kafka-acls.sh."""

    acls_digest: str
    resource_type: str  # Cluster, Topic, Group, TransactionalId, DelegationToken, User
    resource_name: str
    pattern_type: str  # LITERAL, PREFIXED
    principal: str
    host: str
    operation: str  # ClusterAction, Describe, All, …
    permission: str  # ALLOW, DENY


class BrokerProperty(Row, filled_by=("properties",)):
    """One key of a server.properties as Java reads it (the last definition applies); `value` is null as in broker_config."""

    source: str  # path in the cluster file, with the id
    broker_id: int
    key: str
    value: str | None
    secret: bool
    line: int


class PropertyLogin(Row, filled_by=("properties",)):
    """A login in the JAAS text of a server.properties.

    `password_digest` is an HMAC with a key that exists only while the snapshot is taken. Equal passwords of one snapshot have
    equal digests. Digests of different snapshots cannot be compared.
    """

    source: str
    broker_id: int
    listener: str
    mechanism: str  # PLAIN, SCRAM-SHA-256, …
    side: str  # "client": the login of this broker at others; "server": a login that it accepts (PLAIN user_<name>)
    username: str
    password_digest: str
