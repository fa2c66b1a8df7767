"""What brokers say when each is asked itself."""

from dataclasses import dataclass

from kafka_audit.model.tables.row import Row


@dataclass(frozen=True, kw_only=True)
class BrokerView(Row):
    """A broker's own answer to Metadata (all topics) on one listener: who held which view. No row when it did not answer."""

    sample: int
    observer: str
    broker_id: int  # whom we meant to ask: the registered id, -1 for a bootstrap address that is not registered
    listener: str
    address: str  # address really dialled (after `reach`)
    kafka_cluster_id: str | None
    controller_id: int | None  # -1: the broker knows none
    brokers_listed: int
    topics_listed: int
    brokers_digest: str  # -> ViewBroker
    topics_digest: str  # -> ViewTopic
    metadata_version: int


@dataclass(frozen=True, kw_only=True)
class ViewBroker(Row):
    """A broker as listed in a view; stored once for all observers that said the same."""

    brokers_digest: str
    broker_id: int
    host: str
    port: int
    rack: str | None


@dataclass(frozen=True, kw_only=True)
class ViewTopic(Row):
    """A topic as listed in a view; topics of equal content share `topic_digest`."""

    topics_digest: str
    topic: str
    topic_id: str | None
    topic_digest: str  # -> ViewPartition
    error: int


@dataclass(frozen=True, kw_only=True)
class ViewPartition(Row):
    """A partition as listed in a view, stored once per distinct content of its topic. isr and offline are sorted."""

    topic_digest: str
    topic: str
    partition: int
    error: int  # 0, 5 LEADER_NOT_AVAILABLE, 72 LISTENER_NOT_FOUND, …
    leader: int
    leader_epoch: int | None  # None below Metadata v7
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class BrokerConfig(Row):
    """DescribeConfigs(BROKER). Unset unknown keys are absent.

    value None: Kafka hides it (sensitive, or unknown to it), or key or value shows a secret that the broker calls harmless.
    """

    observer: str
    broker_id: int
    key: str
    value: str | None
    source: int  # Kafka's ConfigSource code: 4 static, 5 default, 2/3 dynamic
    sensitive: bool


@dataclass(frozen=True, kw_only=True)
class BrokerApi(Row):
    """One API range from ApiVersions."""

    observer: str
    broker_id: int
    api_key: int
    min_version: int
    max_version: int


@dataclass(frozen=True, kw_only=True)
class BrokerFeature(Row):
    """One feature from ApiVersions (version 3 on), e.g. metadata.version: levels that a broker supports, and the cluster's."""

    observer: str
    broker_id: int
    feature: str
    min_supported: int | None  # None: the broker does not support it, or 0 (below version 4 of ApiVersions)
    max_supported: int | None
    finalized: int | None  # None: it is not finalized
    finalized_epoch: int | None  # of the metadata that the broker has it from; None where it knows none


@dataclass(frozen=True, kw_only=True)
class Reassignment(Row):
    """A reassignment under way, by ListPartitionReassignments; ZooKeeper: the topic's znode, /admin/reassign_partitions."""

    sample: int
    observer: str
    topic: str
    partition: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...]  # from /admin/reassign_partitions: all replicas that there are to be
    removing: tuple[int, ...]
