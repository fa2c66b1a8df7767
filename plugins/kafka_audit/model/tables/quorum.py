"""Controllers in KRaft mode: the metadata quorum, fenced brokers, and a migration in progress."""

from kafka_audit.model.tables.row import Long, Row


class QuorumView(Row, filled_by=("DescribeQuorum",)):
    """The response of one observer to DescribeQuorum. Brokers forward the request to the leader; controllers answer it.

    A controller that is not the leader says no more than that, and has no row; nor has a party without a response.
    """

    sample: int
    observer: str  # `broker:<id>`, or `controller@host:port` for an address of the cluster file
    node_id: int | None  # of the broker or controller; null if a controller did not report it
    leader_id: int  # -1: no leader is known to it
    leader_epoch: int | None  # null if only the id of the leader is reported: in old snapshots alone
    high_watermark: Long | None


class QuorumReplica(Row, filled_by=("DescribeQuorum",)):
    """A voter or observer of the metadata log, as the leader reports it to one observer. Times are of the leader's clock."""

    sample: int
    observer: str
    replica_id: int
    voter: bool
    directory_id: str | None  # base64; None for voters of a static quorum, and below version 2 of the answer
    log_end_offset: Long | None  # null: unknown to the leader
    last_fetch_ms: Long | None  # None for the leader, and below version 1 of the answer
    last_caught_up_ms: Long | None  # of the leader: its own time when it answered; None below version 1


class QuorumVoter(Row, filled_by=("DescribeQuorum",)):
    """Where the leader has the other voters reach one of them: a listener in `Nodes` of version 2 of the answer (Kafka 3.9).

    In a dynamic quorum it is what that voter advertises, else what `controller.quorum.voters` of the leader names.
    """

    sample: int
    observer: str
    voter_id: int
    listener: str
    host: str
    port: int


class FencedBroker(Row, filled_by=("DescribeCluster",)):
    """A fenced broker, by DescribeCluster (version 2 and later): registered, and out of service."""

    sample: int
    observer: str
    broker_id: int  # the broker that reports it
    fenced_id: int
    address: str | None = None  # host:port of the listener on which it was asked for; None in snapshots of earlier versions


class RegisteredController(Row, filled_by=("DescribeCluster controllers",)):
    """A controller that the metadata log has as registered, whether it runs or not, as a controller answers (Kafka 3.7)."""

    sample: int
    observer: str
    node_id: int


class ControllerProbe(Row, filled_by=("ApiVersions",)):
    """The probe of an address of `controllers` in the cluster file: the last layer that succeeded, or the first that failed."""

    sample: int
    address: str  # as in the cluster file
    node_id: int | None  # the node that answered, if reported
    layer: str  # dns, tcp, tls, sasl, api
    outcome: str  # ok, failed, unknown
    error: str | None
    needs: str | None
    reason: str | None = None  # of the error: a member of `model.read_failure.ReadFailure`
    addresses: tuple[str, ...] = ()  # of the name, as the vantage resolves it
    via: str | None = None  # the address dialled instead, if `reach` maps it


class ControllerProbeFromBroker(Row, filled_by=("probe",)):
    """The probe of a controller from a broker's host: the last layer that succeeded, or the first that failed."""

    sample: int
    vantage: str  # its name in the cluster file
    from_broker: int
    address: str  # of `controllers` in the cluster file, or of a voter
    layer: str  # dns, tcp, tls, sasl, api, packets
    outcome: str  # ok, failed, unknown
    error: str | None
    needs: str | None
    reason: str | None = None  # of the error: a member of `model.read_failure.ReadFailure`
    addresses: tuple[str, ...] = ()  # of the name, as the vantage resolves it


class VoterProbe(Row, filled_by=("probe",)):
    """The probe of a voter's address that the quorum reports, from this worker or from the host of a controller.

    From this worker: of addresses that are not under `controllers` in the cluster file. Nothing but probes goes there.
    """

    sample: int
    vantage: str  # its name in the cluster file, or this worker
    from_controller: int | None  # role controller: the controller on whose host it began
    voter_id: int
    address: str
    layer: str  # dns, tcp, tls, sasl, api, packets
    outcome: str  # ok, failed, unknown
    error: str | None
    needs: str | None
    reason: str | None = None  # of the error: a member of `model.read_failure.ReadFailure`
    addresses: tuple[str, ...] = ()  # of the name, as the vantage resolves it
    via: str | None = None  # the address dialled instead, if `reach` maps it


class Migration(Row, filled_by=("zookeeper /migration",)):
    """Traces of a migration from ZooKeeper to KRaft: /migration, and a KRaft controller's name in /controller."""

    sample: int
    begun: bool  # /migration exists
    kraft_controller_id: int | None  # in /controller; null if no KRaft controller holds it
    kraft_controller_epoch: int | None  # /controller, kraftControllerEpoch
    metadata_offset: Long | None  # /migration, kraft_metadata_offset: the last offset written to ZooKeeper; -1: none
    metadata_epoch: int | None  # /migration, kraft_metadata_epoch
