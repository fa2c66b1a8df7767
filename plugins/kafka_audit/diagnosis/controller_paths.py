"""How this worker and the hosts of brokers reach the addresses of KRaft controllers, over both samples."""

from dataclasses import dataclass

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import HostPort
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.tables import ControllerProbe, ControllerProbeFromBroker

_Row = ControllerProbe | ControllerProbeFromBroker


@dataclass(frozen=True, kw_only=True)
class ControllerPath:
    """The result of the probes from one vantage to an address under `controllers` in the cluster file."""

    vantage: str
    source: int | None  # the node on whose host it began; None: this worker, or a client's vantage
    address: str
    node_id: int | None  # of the controller that answers
    state: str  # open, closed (at the same layer in both samples), moving (failed otherwise), unknown
    layer: str
    error: str
    needs: str | None

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
        return self.state == "open" or (self.state in {"closed", "moving"} and not self.failed_at_network)

    @property
    def is_worker(self) -> bool:
        """Whether it began at this worker."""
        return self.vantage == WORKER

    @property
    def host_port(self) -> HostPort:
        """The address in two parts."""
        host, _, port = self.address.rpartition(":")
        return host, int(port) if port.isdecimal() else 0


def controller_paths(view: ClusterView) -> tuple[ControllerPath, ...]:
    """Return all of one view, in the order of addresses."""
    now: tuple[_Row, ...] = (*view.newest(ControllerProbe), *view.newest(ControllerProbeFromBroker))
    earlier: tuple[_Row, ...] = (*view.before(ControllerProbe), *view.before(ControllerProbeFromBroker))
    before = set(map(_key, earlier))
    return tuple(
        ControllerPath(
            vantage=getattr(row, "vantage", WORKER),
            source=getattr(row, "from_broker", None),
            address=row.address,
            node_id=getattr(row, "node_id", None),
            state={"ok": "open", "failed": "closed" if _key(row) in before else "moving"}.get(row.outcome, "unknown"),
            layer=row.layer,
            error=row.error or row.outcome,
            needs=row.needs,
        )
        for row in sorted(now, key=lambda row: row.address)
    )


def _key(row: _Row) -> tuple[object, ...]:
    return getattr(row, "vantage", None), getattr(row, "from_broker", None), row.address, row.layer, row.outcome
