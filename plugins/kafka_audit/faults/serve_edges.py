"""The edges from vantages to brokers: whether a client there is served, at the endpoint that it is sent to.

One diagnosis for each vantage and endpoint: whether it is served, over both samples, and the first layer at which it is not. That
is measured where the clients are; which cause of the kind that fails at this layer it is, the error says.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.listeners.probes import LAYERS, ProbeResult, probe_results
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import canonical_address, canonical_host
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Probe

BROKEN, IN_MOTION, UNKNOWN, WORKS = "broken", "in motion", "unknown", "works"
WORST_FIRST = (BROKEN, IN_MOTION, UNKNOWN, WORKS)
"""The states of an edge; one that failed in a single sample is in motion."""

PROBED_LAYERS = LAYERS
"""The layers of a probe, in the order of a connection."""
EDGE_LAYERS = tuple(layer for layer in LAYERS if layer != "identity")
"""Those of these edges; who answers at their ends is `identities`."""
NETWORK = ("dns", "tcp")
"""Those below the Kafka protocol."""

_STATES = {"closed": BROKEN, "moving": IN_MOTION, "open": WORKS}
_KINDS = {"dns": "address", "tcp": "address", "tls": "tls", "sasl": "login", "api": "address", "packets": "packets"}
_AFTER_A_CONNECTION = {ReadFailure.CLOSED_AT_ONCE: "limit", ReadFailure.TIMEOUT: "process"}


@dataclass(frozen=True, kw_only=True)
class ServeEdge:
    """Whether a vantage is served at an endpoint.

    Attributes:
        vantage: where it begins; with `role`, and whether the endpoint is for clients of that vantage.
        source: the broker on whose host it begins; None of clients.
        endpoint: where it leads, by `via` instead.
        state: one of `WORST_FIRST`.
        passed: the layers that work.
        stop: the first layer that failed; else the first that is unknown; None where all is well, or nothing was probed.
        repeated: whether both samples failed at that layer, for one reason.
        addresses: that the name has there, by `resolver`.
        identity: the row of who answers there, for `identities`.
    """

    vantage: str
    role: str
    source: int | None
    of_clients: bool
    endpoint: AdvertisedEndpoint
    via: str | None
    state: str
    passed: tuple[str, ...]
    stop: Probe | None
    repeated: bool
    addresses: frozenset[str]
    resolver: str | None
    identity: Probe | None

    @property
    def begins(self) -> bool:
        """Whether at least one layer works."""
        return bool(self.passed)

    @property
    def connects(self) -> bool:
        """Whether a connection came about in the newest sample."""
        return not {*EDGE_LAYERS[1:]}.isdisjoint(self.passed)

    @property
    def last_probe(self) -> Probe | None:
        """Where it ends: at `stop`, or because it is unknown who answers; None where all is well."""
        unnamed = self.identity if self.identity is not None and self.identity.outcome != "ok" else None
        return self.stop or unnamed

    @property
    def failed_at(self) -> str | None:
        """The layer at which it failed in the newest sample; None where it did not."""
        return self.stop.layer if self.state in {BROKEN, IN_MOTION} and self.stop is not None else None

    @property
    def closed(self) -> bool:
        """Whether it ends, in the newest sample, before a byte of the Kafka protocol."""
        return self.failed_at in NETWORK

    @property
    def kind(self) -> str | None:
        """The kind of faults that break it; None of one that is not broken."""
        if self.state != BROKEN or self.stop is None:
            return None
        kind = _KINDS[self.stop.layer]
        return _AFTER_A_CONNECTION.get(self.stop.failure, kind) if self.stop.layer == "api" and self.stop.failure else kind

    @property
    def ends(self) -> str | None:
        """Where and why it fails, for a sentence; None where it does not."""
        if self.state not in {BROKEN, IN_MOTION} or self.stop is None:
            return None
        return f"{self.stop.layer} failed with {self.stop.error or 'an unknown error'} at {self.vantage}"


class ServeEdges:
    """The edges from all vantages of one view, those on brokers' hosts among them."""

    def __init__(self, view: ClusterView) -> None:
        """Read the probes."""
        self.every = tuple(_edge(probe, of_clients=view.is_of_clients(probe)) for probe in view.probes)

    @cached_property
    def of_clients(self) -> tuple[ServeEdge, ...]:
        """Those of clients to listeners that are for them."""
        return tuple(edge for edge in self.every if edge.of_clients)

    @cached_property
    def reached(self) -> tuple[str, ...]:
        """How many endpoints are reached from each vantage: `worker 2 of 3`."""
        asked: dict[str, list[ServeEdge]] = {}
        for edge in self.of_clients:
            asked.setdefault(edge.vantage, []).append(edge)
        return tuple(f"{vantage} {sum(e.state == WORKS for e in own)} of {len(own)}" for vantage, own in sorted(asked.items()))

    @cached_property
    def _by_listener(self) -> Mapping[tuple[int, str], list[ServeEdge]]:
        found: dict[tuple[int, str], list[ServeEdge]] = {}
        for edge in self.every:
            found.setdefault((edge.endpoint.broker_id, edge.endpoint.listener), []).append(edge)
        return found

    def to(self, endpoint: AdvertisedEndpoint, role: str | None = "client") -> tuple[ServeEdge, ...]:
        """Return those to an endpoint from vantages of a role, None for any.

        A client's of a listener that only brokers use has `of_clients` false.
        """
        every = self._by_listener.get((endpoint.broker_id, endpoint.listener), ())
        return tuple(edge for edge in every if role in {None, edge.role})

    def is_lost(self, endpoint: AdvertisedEndpoint) -> bool:
        """Return whether no host connects to an endpoint, the broker's own host included: its address leads nowhere."""
        every = self.to(endpoint, role=None)
        own = any(edge.source == endpoint.broker_id and edge.closed and edge.state == BROKEN for edge in every)
        return own and not any("tcp" in edge.passed for edge in every)

    @cached_property
    def from_worker(self) -> tuple[ServeEdge, ...]:
        """Those from this worker, directly or as `reach` has it, in the order of brokers and listeners."""
        own = (edge for edge in self.every if edge.vantage == WORKER)
        return tuple(sorted(own, key=lambda edge: (edge.endpoint.broker_id, edge.endpoint.listener)))

    @cached_property
    def mapped(self) -> Mapping[str, list[ServeEdge]]:
        """Those from this worker to each listener with a mapping in `reach`, including those without a mapping."""
        found: dict[str, list[ServeEdge]] = {}
        for edge in self.from_worker:
            found.setdefault(edge.endpoint.listener, []).append(edge)
        return {listener: own for listener, own in found.items() if any(edge.via for edge in own)}

    @cached_property
    def resolved_by_clients(self) -> frozenset[str]:
        """The advertised hosts that a client vantage resolved itself."""
        own = (edge for edge in self.every if edge.role == "client" and edge.via is None and "dns" in edge.passed)
        return frozenset(canonical_host(edge.endpoint.host) for edge in own)

    def at(self, host: str, port: int) -> Iterator[ServeEdge]:
        """Yield those from client vantages that lead to an address, whichever broker advertises it."""
        address = canonical_address(host, port)
        every = (edge for edge in self.every if edge.role == "client")
        return (edge for edge in every if canonical_address(edge.endpoint.host, edge.endpoint.port) == address)

    def beginning_at(self, vantage: str) -> Mapping[AdvertisedEndpoint, list[ServeEdge]]:
        """Return those from one vantage, by their endpoints in order."""
        found: dict[AdvertisedEndpoint, list[ServeEdge]] = {}
        for edge in sorted((edge for edge in self.every if edge.vantage == vantage), key=lambda edge: edge.endpoint):
            found.setdefault(edge.endpoint, []).append(edge)
        return found


def edges_tried(probes: Iterable[Probe]) -> tuple[ServeEdge, ...]:
    """Return the edges to addresses that no broker advertises yet, by one sample: one that is in motion failed in it."""
    return tuple(_edge(probe, of_clients=probe.role == "client") for probe in probe_results(probes, (), frozenset()))


def _edge(probe: ProbeResult, *, of_clients: bool) -> ServeEdge:
    return ServeEdge(
        vantage=probe.vantage,
        role=probe.role,
        source=probe.from_broker,
        of_clients=of_clients,
        endpoint=probe.endpoint,
        via=probe.via,
        state=_STATES.get(probe.state, UNKNOWN),
        passed=probe.passed,
        stop=probe.failed or probe.unknown,
        repeated=probe.repeated,
        addresses=probe.addresses,
        resolver=probe.resolver,
        identity=probe.identity,
    )


def least_served(edges: Iterable[ServeEdge]) -> tuple[ServeEdge, ...]:
    """Return the edges to one endpoint that get the least far, the first layer first; none without any."""
    every = list(edges)
    state = min((edge.state for edge in every), key=WORST_FIRST.index, default=None)
    worst = [edge for edge in every if edge.state == state]
    return tuple(sorted(worst, key=lambda edge: len(EDGE_LAYERS) if edge.stop is None else EDGE_LAYERS.index(edge.stop.layer)))
