"""How this worker and the hosts of brokers reach the addresses of KRaft controllers, over both samples."""

from dataclasses import dataclass

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.tables import ControllerProbe, ControllerProbeFromBroker

_Row = ControllerProbe | ControllerProbeFromBroker


@dataclass(frozen=True, kw_only=True)
class ControllerPath:
    """The result of the probes from one vantage to an address under `controllers` in the cluster file."""

    source: int | None  # the broker on whose host it began; None: this worker
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


def controller_paths(view: ClusterView) -> tuple[ControllerPath, ...]:
    """Return all of one view, in the order of addresses."""
    now: tuple[_Row, ...] = (*view.newest(ControllerProbe), *view.newest(ControllerProbeFromBroker))
    earlier: tuple[_Row, ...] = (*view.before(ControllerProbe), *view.before(ControllerProbeFromBroker))
    before = set(map(_key, earlier))
    return tuple(
        ControllerPath(
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
