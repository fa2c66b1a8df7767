"""The views of the brokers."""

from kafka_audit.model.tables.row import Long, Row


class BrokerView(Row, filled_by=("Metadata",)):
    """The response of a broker to Metadata (all topics) on one listener. No row without a response."""

    sample: int
    observer: str
    broker_id: int  # the registered id; -1 for a bootstrap address that is not registered
    listener: str
    address: str  # the dialled address (after `reach`)
    kafka_cluster_id: str | None
    controller_id: int | None  # -1: none is known to the broker
    brokers_listed: int
    topics_listed: int
    brokers_digest: str  # -> ViewBroker
    topics_digest: str  # -> ViewTopic
    metadata_version: int


class ViewBroker(Row, filled_by=("Metadata",)):
    """A broker in a view. Equal views are stored once."""

    brokers_digest: str
    broker_id: int
    host: str
    port: int
    rack: str | None


class ViewTopic(Row, filled_by=("Metadata",)):
    """A topic in a view. Topics with equal partitions have equal `topic_digest`."""

    topics_digest: str
    topic: str
    topic_id: str | None
    topic_digest: str  # -> ViewPartition
    error: int


class ViewPartition(Row, filled_by=("Metadata",)):
    """A partition in a view, stored once for each distinct `topic_digest`. `isr` and `offline_replicas` are sorted."""

    topic_digest: str
    topic: str
    partition: int
    error: int  # 0, 5 LEADER_NOT_AVAILABLE, 72 LISTENER_NOT_FOUND, …
    leader: int
    leader_epoch: int | None  # None below Metadata v7
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]


DEFAULT_SOURCE, STATIC_SOURCE = 5, 4
"""Kafka's ConfigSource: DEFAULT_CONFIG, which is that of the release, and STATIC_BROKER_CONFIG, which is that of the file."""


class BrokerConfig(Row, filled_by=("DescribeConfigs BROKER",)):
    """One key of DescribeConfigs(BROKER). Unknown keys that are not set are absent.

    `value` is null if Kafka hides it (sensitive, or unknown to it), if key or value contain a secret that Kafka does not hide, or
    if it is a text of a key that no release of Kafka defines.
    """

    observer: str
    broker_id: int
    key: str
    value: str | None
    source: int  # Kafka's ConfigSource code: 4 static, 5 default, 2/3 dynamic
    sensitive: bool
    read_only: bool | None = None  # only a restart with another file changes it; null in earlier versions


class ControllerConfig(Row, filled_by=("DescribeConfigs BROKER",)):
    """One key of DescribeConfigs(BROKER), as a KRaft controller of the cluster file answers it itself (Kafka 3.7 and later).

    A broker that is a controller too is in both tables. `value` is null as in broker_config.
    """

    observer: str
    node_id: int
    key: str
    value: str | None
    source: int  # as in broker_config
    sensitive: bool
    read_only: bool | None = None  # as in broker_config


class BrokerApi(Row, filled_by=("ApiVersions",)):
    """One API range from ApiVersions."""

    observer: str
    broker_id: int
    api_key: int
    min_version: int
    max_version: int


class BrokerFeature(Row, filled_by=("ApiVersions",)):
    """One feature from ApiVersions (version 3 and later), e.g. metadata.version: the supported and the finalized levels."""

    observer: str
    broker_id: int
    feature: str
    min_supported: int | None  # None: the broker does not support it, or 0 (below version 4 of ApiVersions)
    max_supported: int | None
    finalized: int | None  # None: it is not finalized
    finalized_epoch: Long | None  # the epoch of the finalized features; null if unknown to the broker


class Reassignment(Row, filled_by=("ListPartitionReassignments", "zookeeper /brokers/topics")):
    """A reassignment in progress, by ListPartitionReassignments; with ZooKeeper: the topic znode, /admin/reassign_partitions."""

    sample: int
    observer: str
    topic: str
    partition: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...]  # from /admin/reassign_partitions: all target replicas
    removing: tuple[int, ...]
