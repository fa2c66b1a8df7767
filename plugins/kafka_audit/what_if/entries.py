"""Where clients enter: listeners, vantages and bootstrap addresses that lose brokers."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import canonical_address
from kafka_audit.faults.serve_edges import WORKS, ServeEdges
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.tables import BOOTSTRAP
from kafka_audit.what_if.losses import PartyLoss, running


@dataclass(frozen=True, kw_only=True)
class EntryPoint:
    """A way in that loses something.

    Attributes:
        kind: `listener` (by what brokers advertise), `vantage` (by what it reaches), or `bootstrap`.
        name: of the listener; of a vantage with its listener; "" of bootstrap addresses.
        lost: the addresses that go.
        left: how many stay.
    """

    kind: str
    name: str
    lost: tuple[str, ...]
    left: int

    @property
    def closed(self) -> bool:
        """Whether no address stays."""
        return self.left == 0


def lost_entries(view: ClusterView, loss: PartyLoss, bootstrap: Sequence[str] = ()) -> tuple[EntryPoint, ...]:
    """Return the ways in that lose an address; `bootstrap` are the addresses of the cluster file, where it is known."""
    if not loss.brokers:
        return ()
    named = view.derived(_named_addresses)
    found = (_entry(kind, name, addresses, loss) for (kind, name), addresses in named.items())
    return tuple(entry for entry in (*found, _bootstrap(view, loss, bootstrap)) if entry is not None)


def _named_addresses(view: ClusterView) -> Mapping[tuple[str, str], Sequence[tuple[int, str]]]:
    """Return brokers and addresses by kind and name: of each listener, and of each vantage that reaches any of a listener.

    Of a listener they are what brokers that run advertise, of a vantage these without what is closed to it.
    """
    alive, own = {*running(view)}, view.replication_listeners.get(WORKER, frozenset())
    listeners: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for endpoint in view.endpoints.all:
        if endpoint.broker_id in alive and endpoint.listener not in own | {BOOTSTRAP, ""}:
            listeners[endpoint.listener].add((endpoint.broker_id, endpoint.address))
    reached: set[tuple[str, str]] = set()
    closed: dict[tuple[str, str], set[tuple[int, str]]] = defaultdict(set)
    for edge in view.derived(ServeEdges).of_clients:
        endpoint = edge.endpoint
        if edge.state == WORKS:
            reached.add((edge.vantage, endpoint.listener))
        elif edge.failed_at is not None:
            closed[edge.vantage, endpoint.listener].add((endpoint.broker_id, endpoint.address))
    found = {("listener", name): addresses for name, addresses in listeners.items()}
    for vantage, name in reached:
        found["vantage", f"{vantage} ({name})"] = listeners.get(name, set()) - closed[vantage, name]
    return {key: sorted(addresses) for key, addresses in sorted(found.items())}


def _bootstrap(view: ClusterView, loss: PartyLoss, addresses: Sequence[str]) -> EntryPoint | None:
    """Return the addresses that lead to brokers; one behind which no broker is known, such as a load balancer, stays."""
    holders = view.derived(_holders)
    found = {(broker, address) for address in addresses for broker in _only(holders.get(_parts(address), ()))}
    return _entry("bootstrap", "", sorted(found), loss)


def _holders(view: ClusterView) -> Mapping[tuple[str, int], set[int]]:
    """Return which brokers answer at an address, or advertise it."""
    holders: dict[tuple[str, int], set[int]] = defaultdict(set)
    for endpoint in view.endpoints.all:
        holders[canonical_address(endpoint.host, endpoint.port)].add(endpoint.broker_id)
    for address, broker in view.answering_elsewhere.items():
        holders[_parts(address)].add(broker)
    return holders


def _only(brokers: Iterable[int]) -> tuple[int, ...]:
    """Return the broker, or -1 where there are several, or none is known."""
    found = tuple(brokers)
    return found if len(found) == 1 else (-1,)


def _parts(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return canonical_address(host.strip("[]"), int(port) if port.isdecimal() else 0)


def _entry(kind: str, name: str, addresses: Sequence[tuple[int, str]], loss: PartyLoss) -> EntryPoint | None:
    lost = tuple(address for broker, address in addresses if broker in loss.brokers)
    return EntryPoint(kind=kind, name=name, lost=lost, left=len(addresses) - len(lost)) if lost else None
