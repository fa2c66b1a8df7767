"""How ZooKeeper itself is: each server of the ensemble asked by itself, and znodes that tell of trouble to come."""

from dataclasses import dataclass

from kafka_audit.model.tables.row import Row


@dataclass(frozen=True, kw_only=True)
class ZookeeperMember(Row):
    """One server of the connection string, asked directly with the four-letter word srvr. None if not reported."""

    sample: int
    member: str  # host:port
    state: str  # serving, idle (it runs and serves no client), down (no connection, no answer), closed (may not be asked)
    error: str | None  # why it is not serving, in short
    mode: str | None  # leader, follower, observer, standalone, read-only
    zxid: int | None  # last one processed
    outstanding: int | None  # requests waiting
    latency_avg_ms: float | None  # since its start, or since its statistics were reset
    latency_max_ms: float | None
    connections: int | None
    znodes: int | None
    version: str | None


@dataclass(frozen=True, kw_only=True)
class EnsembleServer(Row):
    """One server of the ensemble by /zookeeper/config (ZooKeeper 3.5 on), named in the connection string or not."""

    sample: int
    server_id: int
    host: str  # where the servers of the ensemble reach it
    votes: bool  # participant, and not observer


@dataclass(frozen=True, kw_only=True)
class ZookeeperNode(Row):
    """A znode of Kafka's that everything hangs on or where notices heap up, the largest, and what /config and /consumers hold."""

    sample: int
    path: str  # below the chroot
    anyone: str | None  # what world:anyone may do there: letters of crwda; None where it was not asked
    children: int
    bytes: int  # of its data, or of the list of its children's names, whichever is more; 0 where only its name was read
