"""The result of the probes from each vantage to each endpoint, over both samples."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.compare.listener_names import same_listener
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Probe

LAYERS = ("dns", "tcp", "tls", "sasl", "api", "identity", "packets")
"""Layers in the order in which they are probed; rank 1 is the first."""

_CONNECTION = frozenset(LAYERS) - {"identity"}  # which is judged separately

_NETWORK = 2  # rank of the last layer below the Kafka protocol

_Key = tuple[str, str, int | None, int, str]  # vantage, role, from broker, broker, listener


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """The result of the probes from one vantage to one endpoint: in the newest sample, and over both samples."""

    vantage: str
    role: str
    from_broker: int | None
    endpoint: AdvertisedEndpoint
    via: str | None
    addresses: frozenset[str]  # that the name has at the vantage
    resolver: str | None  # what resolved the name there, e.g. `nameserver 10.0.0.2`
    passed: tuple[str, ...]  # layers that worked, identity among them
    identity: Probe | None  # who answers, which `faults.identities` judges; `failed` and `unknown` are other layers
    sent: int | None  # bytes of the largest request that was answered, and of its answer: the layer packets
    received: int | None
    failed: Probe | None  # the first layer that failed
    repeated: bool  # in both samples at that layer, for that reason, same registration
    unknown: Probe | None
    state: str  # open, closed (failed in both samples, same registration), moving (in this one only), unknown
    network: str  # the same for dns and tcp alone

    @property
    def broker_id(self) -> int:
        """Which broker advertises the endpoint."""
        return self.endpoint.broker_id

    @property
    def listener(self) -> str:
        """The endpoint's listener."""
        return self.endpoint.listener


def probe_results(now: Iterable[Probe], before: Iterable[Probe], moved: frozenset[int]) -> tuple[ProbeResult, ...]:
    """Return one for each vantage and endpoint of the newest sample; `moved`: brokers registered differently before."""
    earlier = {key: _first(rows, "failed") for key, rows in _layers_by_probe(before).items() if key[3] not in moved}
    return tuple(_result(rows, earlier.get(key)) for key, rows in _layers_by_probe(now).items())


def _rank(row: Probe) -> int:
    return LAYERS.index(row.layer) + 1


def _layers_by_probe(probes: Iterable[Probe]) -> Mapping[_Key, list[Probe]]:
    """Return the layers of each vantage and endpoint, in their order."""
    found: dict[_Key, list[Probe]] = {}
    for row in probes:
        if row.layer in LAYERS:
            found.setdefault((row.vantage, row.role, row.from_broker, row.broker_id, row.listener), []).append(row)
    return {key: sorted(rows, key=_rank) for key, rows in found.items()}


def _first(rows: Iterable[Probe], outcome: str) -> Probe | None:
    return next((row for row in rows if row.outcome == outcome and row.layer in _CONNECTION), None)


def _result(rows: list[Probe], before: Probe | None) -> ProbeResult:
    failed, unknown, first = _first(rows, "failed"), _first(rows, "unknown"), rows[0]
    reached = max((_rank(row) for row in rows if row.outcome == "ok" and row.layer in _CONNECTION), default=0)
    if failed is not None:
        state = "moving" if before is None else "closed"
    else:
        state = "unknown" if unknown is not None or reached < _NETWORK else "open"
    if failed is not None and _rank(failed) <= _NETWORK:
        network = "closed" if before is not None and _rank(before) <= _NETWORK else "moving"
    else:
        network = "open" if reached >= _NETWORK else "unknown"
    return ProbeResult(
        vantage=first.vantage,
        role=first.role,
        from_broker=first.from_broker,
        endpoint=AdvertisedEndpoint(
            broker_id=first.broker_id, listener=first.listener, host=first.host, port=first.port, protocol=first.protocol
        ),
        via=max((row.via for row in rows if row.via is not None), default=None),
        addresses=frozenset(address for row in rows for address in row.addresses),
        resolver=next((row.resolver for row in rows if row.layer == "dns"), None),
        passed=tuple(row.layer for row in rows if row.outcome == "ok"),
        identity=next((row for row in rows if row.layer == "identity"), None),
        sent=next((row.sent for row in rows if row.sent is not None), None),
        received=next((row.received for row in rows if row.received is not None), None),
        failed=failed,
        repeated=None not in (failed, before) and _stop(failed) == _stop(before),
        unknown=unknown,
        state=state,
        network=network,
    )


def _stop(row: Probe | None) -> tuple[str, ReadFailure | None] | None:
    return None if row is None else (row.layer, row.failure)


_CONTROL_PLANE = "control.plane.listener.name"


def replication_listeners(inter_broker: InterBroker, probes: Iterable[ProbeResult]) -> Mapping[str, frozenset[str]]:
    """Return for each client vantage the listeners that only brokers use, as far as the probes show.

    Such a listener is the inter-broker or control-plane listener of every broker that has it, beside another listener. The
    vantage reaches it at no broker and reaches another listener, and `reach` has no mapping: a network, or certificates, of the
    brokers' own. Where one broker's is reached, clients may use it, and each of its endpoints counts.
    """
    by_vantage: dict[str, dict[str, list[ProbeResult]]] = defaultdict(lambda: defaultdict(list))
    for probe in probes:
        if probe.role == "client":
            by_vantage[probe.vantage][probe.listener].append(probe)
    names_by_vantage = {}
    for vantage, by_listener in by_vantage.items():
        closed = {
            listener: own_results
            for listener, own_results in by_listener.items()
            if not any(probe.state == "open" or probe.via is not None for probe in own_results)
        }
        reached = any(probe.state == "open" for own_results in by_listener.values() for probe in own_results)
        names = [
            name
            for name, own_results in closed.items()
            if all(_brokers_use(inter_broker, probe.broker_id, name) for probe in own_results)
            # What is a broker's only listener is for its clients, too.
            and {probe.broker_id for probe in own_results}
            <= {probe.broker_id for other, theirs in by_listener.items() if other != name for probe in theirs}
        ]
        if reached and names:
            names_by_vantage[vantage] = frozenset(names)
    return names_by_vantage


def _brokers_use(inter_broker: InterBroker, broker: int, name: str) -> bool:
    listener = inter_broker.listener(broker)
    control = inter_broker.settings.get(broker, _CONTROL_PLANE).value or ""
    return same_listener(control, name) or (listener is not None and same_listener(listener.name, name))
