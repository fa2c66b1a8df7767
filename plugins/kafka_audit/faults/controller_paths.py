"""How this worker and the hosts of nodes reach the addresses of KRaft controllers and of ZooKeeper, over both samples."""

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_audit.cluster.answers.log_lines import has_lasted
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import HostPort, address_text, same_address
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import ControllerProbe, ControllerProbeFromBroker, LogLine, VoterProbe, ZookeeperProbe
from kafka_audit.says.signs import login_fault, shown_by

LOG = "log"

_Row = ControllerProbe | ControllerProbeFromBroker | VoterProbe | ZookeeperProbe
_CERTIFICATE = frozenset(
    failure.name
    for failure in (
        ReadFailure.CERTIFICATE_EXPIRED,
        ReadFailure.CERTIFICATE_NOT_YET_VALID,
        ReadFailure.CERTIFICATE_NAME,
        ReadFailure.CERTIFICATE_UNTRUSTED,
        ReadFailure.CERTIFICATE_NOT_ACCEPTED,
    )
)
_TABLES: tuple[type[_Row], ...] = (ControllerProbe, ControllerProbeFromBroker, VoterProbe)


@dataclass(frozen=True, kw_only=True)
class ControllerPath:
    """How one vantage reaches a controller (of `controllers` in the cluster file, or a voter), or ZooKeeper."""

    vantage: str
    role: str  # client, broker, controller, or `LOG`
    source: int | None  # the node on whose host it began; None: this worker
    address: str
    is_listed: bool  # this worker was asked to go there by `controllers` in the cluster file
    is_mapped: bool  # by `reach`, so that it leads to another address
    node_id: int | None  # of the controller that answers
    state: str  # open, closed (at the same layer in both samples), moving (failed otherwise), unknown
    layer: str
    error: str
    needs: str | None
    reason: str | None = None  # a member of `ReadFailure`

    @property
    def failed_at_network(self) -> bool:
        """Whether it ends, in the newest sample, before a byte of the Kafka protocol."""
        return self.state in {"closed", "moving"} and self.layer in {"dns", "tcp"}

    @property
    def is_cut(self) -> bool:
        """Whether it ends there in both samples."""
        return self.state == "closed" and self.layer in {"dns", "tcp"}

    @property
    def connects(self) -> bool:
        """Whether a connection opens, whatever becomes of it."""
        return self.state == "open" or self.layer not in {"dns", "tcp"}

    @property
    def reaches(self) -> bool:
        """Whether a connection opens, and nothing fails after that: without a ca_file or a certificate, that is not known."""
        return self.connects and self.state in {"open", "unknown"}

    @property
    def is_turned_away(self) -> bool:
        """Whether it ends, in both samples, with the certificate that is shown, or by a log with the handshake or the login."""
        return self.state == "closed" and (self.reason in _CERTIFICATE or (self.role == LOG and self.layer in {"tls", "sasl"}))

    @property
    def checks_names(self) -> bool:
        """Whether it ends because the certificate is for another host, which a client may be set not to compare."""
        return self.reason == ReadFailure.CERTIFICATE_NAME.name

    @property
    def host_port(self) -> HostPort:
        """The address in two parts."""
        host, _, port = self.address.rpartition(":")
        return host, int(port) if port.isdecimal() else 0


def controller_paths(view: ClusterView) -> tuple[ControllerPath, ...]:
    """Return all of one view, in the order of addresses."""
    return _paths(view, _TABLES)


def is_closed(paths: Iterable[ControllerPath], address: HostPort, node: int | None = None) -> bool:
    """Return whether a controller, or its address, refuses connections in both samples, and accepts none."""
    there = [path for path in paths if (node is not None and path.node_id == node) or same_address(path.host_port, address)]
    refuses = any(path.is_cut and path.reason == ReadFailure.REFUSED.name for path in there)
    return refuses and not any(path.connects for path in there)


def reaches_nothing(view: ClusterView, own: Iterable[ControllerPath]) -> bool:
    """Return whether the vantage of these paths probed brokers as well, and no connection from there opens."""
    origins = {(path.vantage, path.source) for path in own}
    probes = [probe for probe in view.probes if (probe.vantage, probe.from_broker) in origins]
    return bool(probes) and not any(probe.network == "open" for probe in probes) and not any(path.connects for path in own)


def zookeeper_paths(view: ClusterView) -> tuple[ControllerPath, ...]:
    """Return those from brokers' hosts to ZooKeeper servers; none where every broker is registered."""
    return _paths(view, (ZookeeperProbe,))


def _paths(view: ClusterView, tables: tuple[type[_Row], ...]) -> tuple[ControllerPath, ...]:
    before = {_key(row) for table in tables for row in view.before(table)}
    now = [row for table in tables for row in view.newest(table)]
    return tuple(_path(row, repeated=_key(row) in before) for row in sorted(now, key=lambda row: row.address))


def paths_by_log(view: ClusterView, node: int) -> tuple[ControllerPath, ...]:
    """Return the connections to controllers that fail now by the log of a node.

    A voter connects to others in elections; from Kafka 3.9 on the leader does so all the time.
    """
    lines = filter(has_lasted, view.logs.to_controllers(node))
    named = ((row, row.address or _address_of(view, row.about_broker)) for row in lines)
    return tuple(
        ControllerPath(
            vantage=LOG,
            role=LOG,
            source=node,
            address=address,
            is_listed=False,
            is_mapped=False,
            node_id=None,
            state="closed",
            layer=_layer(row),
            error=f"by its {row.log}",
            needs=None,
        )
        for row, address in named
        if address is not None
    )


def _address_of(view: ClusterView, voter: int | None) -> str | None:
    """Return the address of a voter, for a line that names the voter only."""
    address = None if voter is None else view.voter_addresses.get(voter)
    return None if address is None else address_text(*address)


def _layer(row: LogLine) -> str:
    if shown_by(row) == "KA302":
        return "tcp"
    return "tls" if login_fault(row) == "certificate" else "sasl"


def _path(row: _Row, *, repeated: bool) -> ControllerPath:
    role, source = "client", None
    if isinstance(row, ControllerProbeFromBroker | ZookeeperProbe):
        role, source = "broker", row.from_broker
    elif isinstance(row, VoterProbe) and row.from_controller is not None:
        role, source = "controller", row.from_controller
    return ControllerPath(
        vantage=WORKER if isinstance(row, ControllerProbe) else row.vantage,
        role=role,
        source=source,
        address=row.address,
        is_listed=isinstance(row, ControllerProbe),
        is_mapped=not isinstance(row, ControllerProbeFromBroker | ZookeeperProbe) and row.via is not None,
        node_id=row.node_id if isinstance(row, ControllerProbe) else None,
        state={"ok": "open", "failed": "closed" if repeated else "moving"}.get(row.outcome, "unknown"),
        layer=row.layer,
        error=row.error or row.outcome,
        needs=row.needs,
        reason=row.reason,
    )


def _key(row: _Row) -> tuple[object, ...]:
    path = _path(row, repeated=False)
    return path.vantage, path.source, row.address, row.layer, row.outcome
