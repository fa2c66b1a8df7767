"""The content of ZooKeeper."""

from kafka_audit.model.tables.row import Long, Row


class Registry(Row, filled_by=("zookeeper /brokers/ids",)):
    """The znodes of the cluster as a whole. Missing znodes are null. No row if ZooKeeper was not read."""

    sample: int
    kafka_cluster_id: str | None  # /cluster/id
    controller_id: int | None  # /controller; null if the znode does not exist
    controller_epoch: int | None  # /controller_epoch
    controller_mzxid: Long | None
    brokers_pzxid: Long | None  # pzxid of /brokers/ids: changes when a broker registers or leaves
    zxid_before: Long
    zxid_after: Long


class RegisteredBroker(Row, filled_by=("zookeeper /brokers/ids",)):
    """/brokers/ids/N."""

    sample: int
    broker_id: int
    rack: str | None
    ephemeral_owner: Long
    registered_ms: Long  # the timestamp in the registration
    czxid: Long
    mzxid: Long


class RegisteredEndpoint(Row, filled_by=("zookeeper /brokers/ids",)):
    """One entry of `endpoints` of /brokers/ids/N, with its protocol from `listener_security_protocol_map`."""

    sample: int
    broker_id: int
    listener: str
    protocol: str
    host: str
    port: int


class RegisteredTopic(Row, filled_by=("zookeeper /brokers/topics",)):
    """/brokers/topics/T. `deleting` if T is below /admin/delete_topics."""

    sample: int  # the first sample with this row
    last_sample: int  # the last sample with this row, or that did not read the topic again; all samples between have it too
    topic: str
    topic_id: str | None  # as in the znode (base64), None before version 3 of the znode
    czxid: Long
    mzxid: Long
    deleting: bool
    content_digest: str | None = None  # the `topic_digest` of a view with these states; null: some states are unknown


class RegisteredPartition(Row, filled_by=("zookeeper /brokers/topics/*/partitions/*/state",)):
    """Assignment from /brokers/topics/T joined with .../partitions/P/state; state columns are null if it does not exist."""

    sample: int  # the first sample with this row
    last_sample: int  # the last sample with this row, or that did not read the topic again; all samples between have it too
    topic: str
    partition: int
    replicas: tuple[int, ...]
    leader: int | None  # -1: no leader
    leader_epoch: int | None
    controller_epoch: int | None
    isr: tuple[int, ...] | None  # sorted
    leader_recovery_state: int | None
    state_mzxid: Long | None


class TopicConfig(Row, filled_by=("DescribeConfigs TOPIC", "zookeeper /config/topics")):
    """One configuration key of a topic that checks need: /config/topics/T, in KRaft mode DescribeConfigs(TOPIC)."""

    observer: str
    topic: str
    key: str
    value: str  # cut after 1000 characters


class DynamicConfig(Row, filled_by=("zookeeper /config/brokers",)):
    """One key of /config/brokers/<id or default>; `value` is null as in broker_config: the decoder drops it."""

    broker_id: int | None  # None: the default of all brokers
    key: str
    value: str | None
    secret: bool


class QuotaUser(Row, filled_by=("zookeeper /config/users quotas", "DescribeClientQuotas")):
    """A user that has a quota of its own; with ZooKeeper, none that has quotas for single client ids alone."""

    user: str


class Quota(Row, filled_by=("zookeeper /config quotas", "DescribeClientQuotas limits")):
    """A limit of a user, a client id, both, or an address; with ZooKeeper, none that a user has for single client ids alone.

    A name is null if the limit is not of one, and `DEFAULT` for all that have no limit of their own.
    """

    user: str | None
    client_id: str | None
    address: str | None
    key: str  # one of LIMITS
    limit: float


DEFAULT = "<default>"
LIMITS = frozenset(
    {
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
        "connection_creation_rate",
    }
)
"""The keys of a quota (KIP-13, KIP-124, KIP-599, KIP-612)."""


class ScramUser(Row, filled_by=("zookeeper /config/users", "DescribeUserScramCredentials")):
    """A name below /config/users with a SCRAM credential; the decoder drops salts and keys."""

    user: str
    mechanism: str  # SCRAM-SHA-256, SCRAM-SHA-512
