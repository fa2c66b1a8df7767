"""The audited cluster, the reads, the probes, and what a migration gate or lint is given besides, which is never stored."""

from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables.row import Long, Row


class PlannedNode(Row, stored=False):
    """A node id that the plan gives to a KRaft controller."""

    node_id: int


class PlannedUpgrade(Row, stored=False):
    """A rolling upgrade that is planned."""

    version: str | None  # the release that the brokers are to run; None: the plan does not name it
    oldest_client: str | None  # the oldest Kafka release whose clients connect, as the planner reports it; None: unknown


class Verdict(Row, stored=False):
    """The result of an ordinary check for a resource of the same snapshot; PASS only if the check has no other result."""

    code: str
    resource: str
    status: str  # as in findings.json
    error: str | None = None  # the reason if the status is UNKNOWN
    needs: str | None = None


class FileRelease(Row, stored=False):
    """The release by whose rules lint judges the file of a node."""

    node_id: int
    version: str  # one of `configuration.definitions.VERSIONS`


BOOTSTRAP = "bootstrap"
"""The listener of an address whose listener is unknown: bootstrap addresses, and brokers that only Metadata lists."""


class SnapshotInfo(Row):
    """One row: the audited cluster, with the expectations and limits that checks use."""

    cluster: str  # name in the cluster file
    mode: str  # "zookeeper" or "kraft"
    tool_version: str
    started_ms: Long
    finished_ms: Long
    samples: int
    settle_s: float
    leader_moves: float  # share of a broker's partitions above which KA208 is MEDIUM
    skew_s: float  # longest time between first and last read of one sample before KA003
    expect_brokers: int | None = None
    expect_cluster_id: str | None = None
    expect_single_broker: bool = False
    client_vantages: int = 1  # vantages with role client that probed, this worker included
    broker_vantages: int = 0  # configured command vantages with role broker
    topic_keys: tuple[str, ...] = ()  # settings of topics that were stored where a topic has them; none in earlier versions


class OrdinaryTime(Row):
    """How long a kind of progress may show the same measure, where the cluster file has another time than the product."""

    kind: str  # a key of `progress` in the cluster file
    minutes: float


class Sample(Row):
    """One sample of all views. A second sample is taken if the first shows a difference (see `collect.sampling`)."""

    sample: int
    started_ms: Long
    finished_ms: Long
    reason: str  # the reason for this sample: "first", or the difference in the sample before
    asked_again: tuple[str, ...] | None = None  # the observers that it asked; null: all. The others hold as in the sample before
    topics_again: int | None = None  # how many topics in doubt it read again in ZooKeeper; null: all topics


class SourceRead(Row):
    """One read from one party. Coverage counts these rows. Each failed read is a row."""

    sample: int
    observer: str
    operation: str  # Kafka API name ("Metadata", "DescribeConfigs BROKER"), or "zookeeper <path or set>", "probe <vantage>"
    target: str  # address of the party
    outcome: str  # "answered" (data, or a definite no), "failed" (no answer, refused, unreadable)
    error: str | None = None  # short: Kafka error name, "timeout", "connection refused", kazoo exception name
    message: str | None = None  # the error message of the party, secrets masked
    needs: str | None = None  # the right, port or file that the read requires
    elapsed_ms: Long = 0
    untrusted_host: str | None = None  # the host to which no login was sent, because `trusted_hosts` does not match it
    reason: str | None = None  # why it failed: a member of `model.read_failure.ReadFailure`; null in earlier versions
    layer: str | None = None  # at which a connection failed: dns, tcp, tls, sasl, api (it was there, and nothing was answered)

    @property
    def failure(self) -> ReadFailure:
        """Why it failed."""
        return ReadFailure.of(self.reason, self.error)

    @property
    def why(self) -> str:
        """Return error and message of the party for a sentence, not cleaned; the message alone where it repeats the error."""
        error, message = self.error or "", self.message or ""
        parts = (message,) if error.lower() in message.lower() else (error, message)
        return ": ".join(part for part in parts if part)

    @property
    def timed(self) -> bool:
        """Return whether `elapsed_ms` is how long the party took: it answered, or refused for lack of a right."""
        return self.outcome == "answered" or (self.failure is ReadFailure.NOT_AUTHORIZED and self.was_tried)

    @property
    def was_tried(self) -> bool:
        """Return whether the party was asked."""
        return self.error != ReadFailure.NOT_TRIED.words


class Probe(Row, filled_by=("probe",)):
    """One layer of a probe of an advertised endpoint. A probe ends at the first layer that fails."""

    sample: int
    vantage: str  # "worker", or the name in the cluster file
    role: str  # "client" or "broker"
    from_broker: int | None  # role broker: the broker on whose host the probe ran
    broker_id: int  # the broker that advertises the endpoint
    listener: str
    protocol: str
    host: str
    port: int
    via: str | None  # address dialled instead, from `reach`
    layer: str  # dns, tcp, tls, sasl, api, identity, packets
    outcome: str  # ok, failed, unknown
    error: str | None  # "no route to host", "connection refused", "timeout", "name or service not known"
    detail: str | None  # text for people, such as the TLS version; the columns below hold what is compared
    needs: str | None = None
    elapsed_ms: Long = 0
    addresses: tuple[str, ...] = ()  # dns: the addresses of the name
    resolver: str | None = None  # dns: what resolved the name ("nameserver 10.0.0.2", "hosts file"); null for an address
    mechanisms: tuple[str, ...] = ()  # sasl: the mechanisms that the listener offers
    answered_by: int | None = None  # identity: the id of the broker that answers
    sent: Long | None = None  # packets: bytes of a request that no packet holds
    received: Long | None = None  # packets: bytes of its answer
    reason: str | None = None  # why the layer failed or is unknown: a member of `model.read_failure.ReadFailure`

    @property
    def failure(self) -> ReadFailure | None:
        """Why the layer failed or is unknown, as far as a reason is known."""
        return None if self.reason is None and self.error is None else ReadFailure.of(self.reason, self.error)


class AddressProbe(Row, filled_by=("probe",)):
    """The probe of one address of an advertised name that has several: the first layer that failed, or the last one."""

    sample: int
    vantage: str  # "worker", or the name in the cluster file
    role: str  # "client" or "broker"
    from_broker: int | None  # role broker: the broker on whose host the probe ran
    broker_id: int  # the broker that advertises the name
    listener: str
    host: str  # the name
    port: int
    address: str  # one of its addresses, as the vantage resolves it
    layer: str  # dns, tcp, tls, sasl, api, identity
    outcome: str  # ok, failed
    answered_by: int | None  # the id of the broker that answers there; null if it is unknown
    error: str | None = None
    reason: str | None = None  # of the error: a member of `model.read_failure.ReadFailure`

    @property
    def failure(self) -> ReadFailure | None:
        """Why the address leads nowhere, as far as a reason is known."""
        return None if self.reason is None and self.error is None else ReadFailure.of(self.reason, self.error)


class BrokerIdentity(Row, filled_by=("DescribeConfigs identity",)):
    """The broker that answers at an address, by error 42 of DescribeConfigs. `answered_by` is null if the id is unknown."""

    sample: int
    broker_id: int  # the broker that advertises the address
    listener: str
    address: str
    answered_by: int | None
    kafka_cluster_id: str | None


class AuthorityCertificate(Row, filled_by=("probe",)):
    """A certificate in a `ca_file` of the cluster file: an authority that the auditor, and usually clients, trust."""

    sample: int
    file: str  # name of the file, without its folder
    subject: str  # as `Certificate.issuer` names it
    issuer: str
    not_before_ms: Long
    not_after_ms: Long


class Certificate(Row, filled_by=("probe",)):
    """The certificate that a TLS endpoint presented; no row if the handshake failed before."""

    sample: int
    vantage: str
    broker_id: int  # the broker that advertises the endpoint; -1 for controllers of the cluster file and ZooKeeper servers
    listener: str  # CONTROLLER and ZOOKEEPER for those
    host: str
    port: int
    subject: str
    issuer: str
    sans: tuple[str, ...]  # DNS names and addresses, sorted
    not_before_ms: Long
    not_after_ms: Long
    trusted: bool | None  # by `ca_file`; null without a `ca_file`
    name_matches: bool  # whether the advertised host is among the names
    error: str | None  # OpenSSL's error if it is not trusted
    issuer_key: str | None = None  # SHA-1 of the issuer's key in hexadecimal, as the certificate names it; null where it does not
