"""One audited cluster as the cluster file describes it: typed, validated, free of secrets.

Passwords and keys are read where a connection is opened, from the environment or an Airflow connection.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True, kw_only=True)
class Tls:
    """Paths of PEM files."""

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None


@dataclass(frozen=True, kw_only=True)
class ZookeeperAccess:
    """`connect` is a connection string with its chroot; `password_env` names an environment variable, never a password."""

    connect: str
    username: str | None = None
    password_env: str | None = None
    tls: Tls | None = None


@dataclass(frozen=True, kw_only=True)
class Oidc:
    """Where access tokens come from; `username` of the security is the client ID, `password_env` names the client secret."""

    token_endpoint: str
    scope: str | None = None
    extensions: tuple[tuple[str, str], ...] = ()  # SASL extensions that brokers expect with the token
    ca_file: str | None = None  # of the endpoint's certificate; None for the authorities of this machine


@dataclass(frozen=True, kw_only=True)
class Security:
    """The security of listeners of one protocol.

    OAUTHBEARER has one of `password_env` alone, `oidc`, `msk_region`, `google_cloud` and `azure_scope`.
    """

    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    username: str | None = None
    password_env: str | None = None
    oidc: Oidc | None = None
    msk_region: str | None = None  # AWS region for which a token is signed
    google_cloud: bool = False  # a token of Google's default credentials, as Managed Service for Apache Kafka takes it
    azure_scope: str | None = None  # scope of a token of Azure's default credentials
    tls: Tls | None = None

    @property
    def fetches_tokens(self) -> bool:
        """Whether a token is fetched for each login, instead of a secret that is there."""
        return self.oidc is not None or self.msk_region is not None or self.google_cloud or self.azure_scope is not None


WORKER = "worker"
"""The vantage that every audit has: the machine that runs it. No other may have this name."""


@dataclass(frozen=True, kw_only=True)
class Vantage:
    """A place that probes start from: exactly one of `queue` (Airflow) and `command`.

    The command may hold `{broker_id}`, of role controller `{controller_id}`.
    """

    name: str
    role: str = "client"  # or "broker", "controller": run once per broker or controller, on its host
    queue: str | None = None
    command: tuple[str, ...] | None = None
    env: tuple[str, ...] = ()  # names of variables that the command gets besides those that such commands need


@dataclass(frozen=True, kw_only=True)
class Logs:
    """Where broker logs are read: exactly one of `command` and `paths`; both may hold `{broker_id}`."""

    command: tuple[str, ...] | None = None
    paths: tuple[str, ...] = ()
    env: tuple[str, ...] = ()  # as of a vantage


@dataclass(frozen=True, kw_only=True)
class Expect:
    """What the owner of the cluster says is right."""

    brokers: int | None = None
    cluster_id: str | None = None
    single_broker: bool = False


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds on the audit's own load and patience. Seconds, and a share for `leader_moves`.

    `brokers` to `rows` bound what a cluster can make an audit do, whatever it says. A cluster of 1,000 brokers and 1,000,000
    partitions does not meet the defaults:

    - brokers, 2,000: twice as many.
    - endpoints, 10,000: 1,000 brokers with 5 listeners each, twice.
    - probes, 1,000,000 pairs of a vantage's host and an endpoint in one sample: 1,000 brokers, each probed from every broker's
      host. From there every listener counts: with three of them 577 brokers fit, and of more each host probes a share.
    - bytes, 512 MiB in flight at a time: an answer with 1,000,000 partitions is 45 MB (42 bytes each with three replicas, and the
      topics' names), and at most as many are asked for at a time as fit; the data of ZooKeeper in one sample is 320 MB (a state
      takes 230 bytes with its stat, 200,000 topics 300 each with their settings).
    - rows, 5,000,000 of what brokers answer: 3,600,000 of topics and partitions in all different views, that is 1,200,000
      (1,000,000 partitions, 200,000 topics) three times, for what changes while it is asked; 1,200,000 settings, 300 of each
      broker in four samples; 200,000 of ACLs in all different sets, members of groups, settings of topics and replicas that move.
      A replica that stays where it is counts by its bytes, and only on a broker with several disks; a partition whose leader
      answers as it should becomes no row. A row that holds much counts as several. Files and logs count as well; what one sample
      reads from ZooKeeper has the same bound of its own.
    """

    read_s: float = 10.0
    audit_s: float = 300.0
    connections_per_broker: int = 1
    settle_s: float = 5.0
    leader_moves: float = 1.0
    skew_s: float = 60.0
    brokers: int = 2_000
    endpoints: int = 10_000
    probes: int = 1_000_000
    bytes: int = 512 * 1024 * 1024
    rows: int = 5_000_000
    dial_untrusted: bool = True  # whether addresses that only the cluster lists, and `trusted_hosts` does not match, are dialled


@dataclass(frozen=True, kw_only=True)
class Keep:
    """How much of the past the store keeps; `store.pruning` describes what is deleted, and what is always kept.

    A snapshot goes when it is beyond one of the two. None is no limit.
    """

    snapshots: int | None = None
    days: int | None = None


@dataclass(frozen=True, kw_only=True)
class Mute:
    """A finding that its owner has accepted until a day: reported, never alerting."""

    code: str
    resource: str  # exact resource name, or with `*`
    reason: str
    owner: str
    until: date | None = None


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """One entry of `clusters.yaml`."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)  # what its owner sorts clusters by, e.g. team and env
    zookeeper: ZookeeperAccess | None = None
    bootstrap: tuple[str, ...] = ()
    controllers: tuple[str, ...] = ()
    security: Security = field(default_factory=Security)
    listeners: Mapping[str, Security | None] = field(default_factory=dict)  # None: skip this listener
    kafka_conn_id: str | None = None
    trusted_hosts: tuple[str, ...] = ()  # patterns of `addresses.trusted_hosts`: where else than above a password may go
    reach: Mapping[str, str] = field(default_factory=dict)  # advertised "host:port" -> "host:port" to dial from here
    vantages: tuple[Vantage, ...] = ()
    properties: tuple[str, ...] = ()
    logs: Logs | None = None
    expect: Expect = field(default_factory=Expect)
    limits: Limits = field(default_factory=Limits)
    progress: Mapping[str, float] = field(default_factory=dict)  # by kind, the minutes that its measure ordinarily stays the same
    keep: Keep = field(default_factory=lambda: Keep(snapshots=700))  # 700 are a week at the DAG's usual 15 minutes
    mute: tuple[Mute, ...] = ()
    asked_topics: frozenset[str] = frozenset()  # no key of the file: what the user of a command asks about
