"""The servers of the ZooKeeper ensemble, and znodes that show a problem early."""

from kafka_audit.model.tables.row import Long, Row


class ZookeeperMember(Row, filled_by=("srvr",)):
    """One server of the connection string, by its response to the four-letter word srvr. Null if not reported."""

    sample: int
    member: str  # host:port
    state: str  # serving, idle (it runs and serves no client), down (no connection or response), closed (srvr is not allowed)
    error: str | None  # the short reason if it is not serving
    mode: str | None  # leader, follower, observer, standalone, read-only
    zxid: Long | None  # the last processed zxid
    outstanding: Long | None  # requests waiting
    latency_avg_ms: float | None  # since the start of the server or the last reset of its statistics
    latency_max_ms: float | None
    connections: Long | None
    znodes: Long | None
    version: str | None
    reason: str | None = None  # of the error: a member of `model.read_failure.ReadFailure`


class ZookeeperProbe(Row, filled_by=("probe",)):
    """A probe of a ZooKeeper server from a broker's host, by name and tcp: the last layer that succeeded, or that failed."""

    sample: int
    vantage: str  # its name in the cluster file
    from_broker: int
    address: str  # of `zookeeper.connect` of brokers, or of `zookeeper` in the cluster file
    layer: str  # dns, tcp
    outcome: str  # ok, failed, unknown
    error: str | None
    needs: str | None
    reason: str | None = None  # of the error: a member of `model.read_failure.ReadFailure`


class EnsembleServer(Row, filled_by=("zookeeper access and size of znodes",)):
    """One server of the ensemble, by /zookeeper/config (ZooKeeper 3.5 and later)."""

    sample: int
    server_id: Long
    host: str  # its address inside the ensemble
    votes: bool  # participant, not observer


class ZookeeperNode(Row, filled_by=("zookeeper access and size of znodes",)):
    """A checked znode: vital, notifications, requests of tools, the largest, and the children of /config and /consumers."""

    sample: int
    path: str  # below the chroot
    anyone: str | None  # the rights of world:anyone, letters of crwda; null if not read
    children: int
    bytes: Long  # of its data or of the names of its children, whichever is larger; 0 if only the name was read
    created_ms: Long | None = None  # by ZooKeeper's clock; of requests of tools alone
