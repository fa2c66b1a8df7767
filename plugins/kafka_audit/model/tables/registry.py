"""What ZooKeeper holds."""

from dataclasses import dataclass

from kafka_audit.model.tables.row import Row


@dataclass(frozen=True, kw_only=True)
class Registry(Row):
    """What ZooKeeper holds about the cluster as a whole. Missing znodes are None. No row when ZooKeeper was not read."""

    sample: int
    kafka_cluster_id: str | None  # /cluster/id
    controller_id: int | None  # /controller, None when the znode is absent
    controller_epoch: int | None  # /controller_epoch
    controller_mzxid: int | None
    brokers_pzxid: int | None  # pzxid of /brokers/ids: changes when a broker comes or goes
    zxid_before: int
    zxid_after: int


@dataclass(frozen=True, kw_only=True)
class RegisteredBroker(Row):
    """/brokers/ids/N."""

    sample: int
    broker_id: int
    rack: str | None
    ephemeral_owner: int
    registered_ms: int  # the registration's own timestamp
    czxid: int
    mzxid: int


@dataclass(frozen=True, kw_only=True)
class RegisteredEndpoint(Row):
    """One entry of `endpoints` of /brokers/ids/N, its protocol taken from `listener_security_protocol_map`."""

    sample: int
    broker_id: int
    listener: str
    protocol: str
    host: str
    port: int


@dataclass(frozen=True, kw_only=True)
class RegisteredTopic(Row):
    """/brokers/topics/T. `deleting` when T is under /admin/delete_topics."""

    sample: int  # the first one that saw this row as it is
    last_sample: int  # the last one: the row holds for all samples from `sample` to here
    topic: str
    topic_id: str | None  # as in the znode (base64), None before version 3 of the znode
    czxid: int
    mzxid: int
    deleting: bool
    content_digest: str | None = None  # the `topic_digest` of a view that shows these states; None: not all states are known


@dataclass(frozen=True, kw_only=True)
class RegisteredPartition(Row):
    """Assignment from /brokers/topics/T joined with .../partitions/P/state; state columns are None where it is absent."""

    sample: int  # the first one that saw this row as it is
    last_sample: int  # the last one: the row holds for all samples from `sample` to here
    topic: str
    partition: int
    replicas: tuple[int, ...]
    leader: int | None  # -1: no leader
    leader_epoch: int | None
    controller_epoch: int | None
    isr: tuple[int, ...] | None  # sorted
    leader_recovery_state: int | None
    state_mzxid: int | None


@dataclass(frozen=True, kw_only=True)
class TopicConfig(Row):
    """One key that a topic sets for itself, of those that checks need: /config/topics/T, in KRaft DescribeConfigs(TOPIC)."""

    observer: str
    topic: str
    key: str
    value: str  # cut after 1000 characters


@dataclass(frozen=True, kw_only=True)
class DynamicConfig(Row):
    """One key of /config/brokers/<id or default>; value None where it is a secret, which never leaves the decoder."""

    broker_id: int | None  # None: the default of all brokers
    key: str
    value: str | None
    secret: bool


@dataclass(frozen=True, kw_only=True)
class ScramUser(Row):
    """A name under /config/users with a SCRAM credential; salts and keys never leave the decoder."""

    user: str
    mechanism: str  # SCRAM-SHA-256, SCRAM-SHA-512
