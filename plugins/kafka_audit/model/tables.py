"""Snapshot tables: one frozen dataclass is one table, a field is a column, its comment the column's meaning.

Rows hold what an observer *said*, never a verdict. The store adds `snapshot_id` and `cluster_id` in front of every row, so
that one query can judge many clusters. Conventions: `observer` is `zookeeper` or `broker:<id>` (`broker@host:port` for a
bootstrap address whose id is not known); times are `_ms` since the epoch; `sample` counts from 1, the highest is the newest look.

Column types: int -> bigint, float -> double, str, bool, tuple[int, ...] -> array<bigint>, `| None` -> nullable.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType, UnionType
from typing import Any, ClassVar, TypeVar, Union, get_args, get_origin, get_type_hints

_T = TypeVar("_T", bound="Row")


@dataclass(frozen=True, kw_only=True)
class Row:
    """Base of all tables; `table()` is the table's name in store and SQL."""

    @classmethod
    def table(cls) -> str:
        """Return the snake_case table name, e.g. `broker_view`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


@dataclass(frozen=True, kw_only=True)
class SnapshotInfo(Row):
    """One row: what was audited, with the expectations and limits that the checks judge by."""

    cluster: str  # name in the cluster file
    mode: str  # "zookeeper" or "kraft"
    tool_version: str
    started_ms: int
    finished_ms: int
    samples: int
    settle_s: float
    leader_moves: float  # share of a broker's partitions above which KA208 is MEDIUM
    skew_s: float  # longest time between first and last read of one sample before KA003
    expect_brokers: int | None = None
    expect_cluster_id: str | None = None
    expect_single_broker: bool = False
    client_vantages: int = 1  # how many vantages with role client probed (this worker counts)
    broker_vantages: int = 0  # how many command vantages with role broker are configured


@dataclass(frozen=True, kw_only=True)
class Sample(Row):
    """One look at everything; a second one is taken when the first shows a difference (see `collect.sampling`)."""

    sample: int
    started_ms: int
    finished_ms: int
    reason: str  # why this sample was taken: "first", or what differed in the one before


@dataclass(frozen=True, kw_only=True)
class SourceRead(Row):
    """One read that was asked of one party: coverage counts these rows, and a failure is never anything else than a row."""

    sample: int
    observer: str
    operation: str  # Kafka API name ("Metadata", "DescribeConfigs BROKER"), or "zookeeper <path or set>", "probe <vantage>"
    target: str  # address that was asked
    outcome: str  # "answered" (data, or a definite no), "failed" (no answer, refused, unreadable)
    error: str | None = None  # short: Kafka error name, "timeout", "connection refused", kazoo exception name
    message: str | None = None  # the party's own words, no secrets
    needs: str | None = None  # the exact right, port or file that would make it answer
    elapsed_ms: int = 0


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

    sample: int
    topic: str
    topic_id: str | None  # as in the znode (base64), None before version 3 of the znode
    czxid: int
    mzxid: int
    deleting: bool


@dataclass(frozen=True, kw_only=True)
class RegisteredPartition(Row):
    """Assignment from /brokers/topics/T joined with .../partitions/P/state; state columns are None where it is absent."""

    sample: int
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
class BrokerIdentity(Row):
    """Who really answers at an address (error 42 of DescribeConfigs names the broker); None where the socket did not tell."""

    sample: int
    broker_id: int  # for whom the address is advertised
    listener: str
    address: str
    answered_by: int | None
    kafka_cluster_id: str | None


@dataclass(frozen=True, kw_only=True)
class BrokerConfig(Row):
    """DescribeConfigs(BROKER). value None: Kafka hides it (sensitive, or unknown to it). Unset unknown keys are absent."""

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
class Probe(Row):
    """One layer of one path from a vantage to an advertised endpoint. The first layer that fails ends the path."""

    sample: int
    vantage: str  # "worker", or the name in the cluster file
    role: str  # "client" or "broker"
    from_broker: int | None  # role broker: the broker on whose host the probe ran
    broker_id: int  # advertised by
    listener: str
    protocol: str
    host: str
    port: int
    via: str | None  # address dialled instead, from `reach`
    layer: str  # dns, tcp, tls, sasl, api, identity
    outcome: str  # ok, failed, unknown
    error: str | None  # "no route to host", "connection refused", "timeout", "name or service not known"
    detail: str | None  # resolved addresses, answering broker id, …
    needs: str | None = None
    elapsed_ms: int = 0


TABLES: tuple[type[Row], ...] = (
    SnapshotInfo,
    Sample,
    SourceRead,
    Registry,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredTopic,
    RegisteredPartition,
    BrokerView,
    ViewBroker,
    ViewTopic,
    ViewPartition,
    BrokerIdentity,
    BrokerConfig,
    BrokerApi,
    Probe,
)
"""Every table of a snapshot, in the order in which data flows."""

_SQL_TYPES: Mapping[Any, str] = MappingProxyType(
    {int: "bigint", float: "double", str: "string", bool: "boolean", tuple[int, ...]: "array<bigint>"}
)


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table: `sql_type` is a Spark SQL type name."""

    name: str
    sql_type: str
    nullable: bool


KEY: tuple[Column, ...] = (
    Column(name="snapshot_id", sql_type="string", nullable=False),
    Column(name="cluster_id", sql_type="string", nullable=False),
)
"""Columns that the store puts in front of every row."""


def columns(table: type[Row]) -> tuple[Column, ...]:
    """Return the columns of a table without `KEY`, in field order; raises KeyError for a field type without a column type."""
    hints = get_type_hints(table)
    found = []
    for field in fields(table):
        hint = hints[field.name]
        nullable = get_origin(hint) in {Union, UnionType}
        if nullable:
            (hint,) = (a for a in get_args(hint) if a is not type(None))
        found.append(Column(name=field.name, sql_type=_SQL_TYPES[hint], nullable=nullable))
    return tuple(found)


def ddl(table: type[Row]) -> str:
    """Return the table's Spark DDL, key columns first."""
    return ", ".join(f"{c.name} {c.sql_type}{'' if c.nullable else ' NOT NULL'}" for c in (*KEY, *columns(table)))


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """All views and probes of one run, complete or not. `cluster_id` is Kafka's, or `unknown:<cluster>` if nobody told it."""

    snapshot_id: str
    cluster: str
    cluster_id: str
    rows: tuple[Row, ...]

    UNKNOWN_ID: ClassVar[str] = "unknown:"

    def of(self, table: type[_T]) -> tuple[_T, ...]:
        """Return the rows of one table."""
        return tuple(row for row in self.rows if isinstance(row, table))
