"""What tells of controllers without ZooKeeper: the metadata quorum, who is fenced, and a migration that is under way."""

from dataclasses import dataclass

from kafka_audit.model.tables.row import Row


@dataclass(frozen=True, kw_only=True)
class QuorumView(Row):
    """DescribeQuorum as one observer passed it on: brokers ask the leader for us, controllers answer themselves.

    A controller that is not the leader reports only the leader that it follows. No row without an answer.
    """

    sample: int
    observer: str  # `broker:<id>`, or `controller@host:port` for an address of the cluster file
    node_id: int | None  # of the broker or controller that was asked, None where a controller did not tell
    leader_id: int  # -1: it knows none
    leader_epoch: int | None  # None if only the leader's id is reported
    high_watermark: int | None


@dataclass(frozen=True, kw_only=True)
class QuorumReplica(Row):
    """A voter or observer of the metadata log, as the leader reports it to one observer. Times are the leader's own clock."""

    sample: int
    observer: str
    replica_id: int
    voter: bool
    directory_id: str | None  # base64; None for voters of a static quorum, and below version 2 of the answer
    log_end_offset: int | None  # None: the leader does not know
    last_fetch_ms: int | None  # None for the leader, and below version 1 of the answer
    last_caught_up_ms: int | None  # of the leader: its own time when it answered; None below version 1


@dataclass(frozen=True, kw_only=True)
class FencedBroker(Row):
    """A broker that DescribeCluster (version 2 on) calls fenced: registered, and out of service."""

    sample: int
    observer: str
    broker_id: int  # the broker that was asked
    fenced_id: int


@dataclass(frozen=True, kw_only=True)
class ControllerProbe(Row):
    """How far this worker got to an address of `controllers` in the cluster file: the layer reached, or the first that failed."""

    sample: int
    address: str  # as the cluster file has it
    node_id: int | None  # the node that answered, if reported
    layer: str  # dns, tcp, tls, sasl, api
    outcome: str  # ok, failed, unknown
    error: str | None
    needs: str | None


@dataclass(frozen=True, kw_only=True)
class Migration(Row):
    """Traces of a migration from ZooKeeper to KRaft: /migration, and a KRaft controller's name in /controller."""

    sample: int
    begun: bool  # /migration is there
    kraft_controller_id: int | None  # in /controller; None while no KRaft controller claims it
    kraft_controller_epoch: int | None  # /controller, kraftControllerEpoch
    metadata_offset: int | None  # /migration, kraft_metadata_offset: what was written back to ZooKeeper last; -1 for nothing
    metadata_epoch: int | None  # /migration, kraft_metadata_epoch
