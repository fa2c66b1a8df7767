"""What was audited, what was asked and how far each path goes."""

from dataclasses import dataclass

from kafka_audit.model.tables.row import Row

BOOTSTRAP = "bootstrap"
"""Stands for the listener's name where only an address is known: bootstrap addresses, and brokers known from Metadata alone."""


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
    """One sample of everything; a second one is taken when the first shows a difference (see `collect.sampling`)."""

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
    message: str | None = None  # the party's own words, secrets masked
    needs: str | None = None  # the exact right, port or file that would make it answer
    elapsed_ms: int = 0
    untrusted_host: str | None = None  # no login was tried there, because `trusted_hosts` does not name it


@dataclass(frozen=True, kw_only=True)
class Probe(Row):
    """One layer of a probe of an advertised endpoint. A probe ends at the first layer that fails."""

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
    detail: str | None  # text for people, such as the TLS version; the columns below hold what is compared
    needs: str | None = None
    elapsed_ms: int = 0
    addresses: tuple[str, ...] = ()  # dns: the addresses of the name
    resolver: str | None = None  # dns: what resolved the name ("nameserver 10.0.0.2", "hosts file"); null for an address
    mechanisms: tuple[str, ...] = ()  # sasl: the mechanisms that the listener offers
    answered_by: int | None = None  # identity: the id of the broker that answers


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
class AuthorityCertificate(Row):
    """A certificate in a `ca_file` of the cluster file: an authority that this auditor trusts, and clients as a rule, too."""

    sample: int
    file: str  # name of the file, without its folder
    subject: str  # as `Certificate.issuer` names it
    issuer: str
    not_before_ms: int
    not_after_ms: int


@dataclass(frozen=True, kw_only=True)
class Certificate(Row):
    """What a TLS endpoint presented to us; no row where the handshake did not come that far."""

    sample: int
    vantage: str
    broker_id: int  # advertised by; -1 for controllers of the cluster file and servers of ZooKeeper
    listener: str  # CONTROLLER and ZOOKEEPER for those
    host: str
    port: int
    subject: str
    issuer: str
    sans: tuple[str, ...]  # DNS names and addresses, sorted
    not_before_ms: int
    not_after_ms: int
    trusted: bool | None  # by `ca_file`, None where none is given
    name_matches: bool  # whether the advertised host is among the names
    error: str | None  # why it is not trusted, in OpenSSL's words
