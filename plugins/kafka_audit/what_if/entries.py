"""Where clients enter: listeners, vantages and bootstrap addresses that lose brokers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import canonical_address
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.tables import BOOTSTRAP, BrokerIdentity
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
    return (*_listeners(view, loss), *_vantages(view, loss), *_bootstrap(view, loss, bootstrap))


def _listeners(view: ClusterView, loss: PartyLoss) -> Iterator[EntryPoint]:
    alive, own = {*running(view)}, view.replication_listeners.get(WORKER, frozenset())
    by_name: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for endpoint in view.endpoints.all:
        if endpoint.broker_id in alive and endpoint.listener not in own | {BOOTSTRAP, ""}:
            by_name[endpoint.listener].add((endpoint.broker_id, endpoint.address))
    for name, addresses in sorted(by_name.items()):
        yield from _entry("listener", name, addresses, loss)


def _vantages(view: ClusterView, loss: PartyLoss) -> Iterator[EntryPoint]:
    by_name: dict[tuple[str, str], set[tuple[int, str]]] = defaultdict(set)
    for probe in view.probes:
        if view.is_of_clients(probe) and probe.state == "open" and probe.listener != BOOTSTRAP:
            by_name[probe.vantage, probe.listener].add((probe.broker_id, probe.address))
    for (vantage, listener), addresses in sorted(by_name.items()):
        yield from _entry("vantage", f"{vantage} ({listener})", addresses, loss)


def _bootstrap(view: ClusterView, loss: PartyLoss, addresses: Sequence[str]) -> Iterator[EntryPoint]:
    """Yield the addresses that lead to brokers; one behind which no broker is known, such as a load balancer, stays."""
    holders: dict[tuple[str, int], set[int]] = defaultdict(set)
    for endpoint in view.endpoints.all:
        holders[canonical_address(endpoint.host, endpoint.port)].add(endpoint.broker_id)
    for row in view.newest(BrokerIdentity):
        if row.answered_by is not None and row.broker_id < 0:
            holders[_parts(row.address)].add(row.answered_by)
    found = {(broker, address) for address in addresses for broker in _only(holders.get(_parts(address), ()))}
    yield from _entry("bootstrap", "", found, loss)


def _only(brokers: Iterable[int]) -> tuple[int, ...]:
    """Return the broker, or -1 where there are several, or none is known."""
    found = tuple(brokers)
    return found if len(found) == 1 else (-1,)


def _parts(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return canonical_address(host.strip("[]"), int(port) if port.isdecimal() else 0)


def _entry(kind: str, name: str, addresses: Iterable[tuple[int, str]], loss: PartyLoss) -> Iterator[EntryPoint]:
    found = sorted(addresses)
    lost = tuple(address for broker, address in found if broker in loss.brokers)
    if lost:
        yield EntryPoint(kind=kind, name=name, lost=lost, left=len(found) - len(lost))
