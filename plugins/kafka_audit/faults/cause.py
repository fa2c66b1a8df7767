"""What a cause of a broken edge is: a pure function of the edge, which yields what was observed for it and against it.

What none of its observations rules out stays possible, and is named.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafka_audit.cluster.listeners.probes import ProbeResult
from kafka_audit.cluster.view import ClusterView
from kafka_audit.faults.edges import COORDINATE, FOLLOW, Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.model.read_failure import ReadFailure


@dataclass(frozen=True, kw_only=True)
class EdgeObservation:
    """What was observed of an edge at the layer of a cause.

    One that `fails` shows the cause, one that `works` rules it out, one that is `unknown` says why it is neither. A `direct` one
    was made between the two parties of the edge: a probe from that host, a line of that side's log, that side's own answer. All
    others are indirect: settings of both sides, or what another party observed.
    """

    state: str
    direct: bool
    observer: str
    text: str


def fails(observer: str, text: str, *, direct: bool = False) -> EdgeObservation:
    """Return an observation that shows a cause."""
    return EdgeObservation(state="fails", direct=direct, observer=observer, text=text)


def works(observer: str, text: str, *, direct: bool = False) -> EdgeObservation:
    """Return an observation that rules a cause out."""
    return EdgeObservation(state="works", direct=direct, observer=observer, text=text)


def unknown(observer: str, text: str) -> EdgeObservation:
    """Return an observation that leaves a cause open."""
    return EdgeObservation(state="unknown", direct=False, observer=observer, text=text)


_RIGHTS = 5
"""The layer of what comes after the login."""


def _let_in(edge: Edge) -> Iterator[EdgeObservation]:
    """Yield that requests pass on an edge: their sender reached the other end, which accepted it."""
    text = edge.effect.text if edge.effect.state == "works" else edge.carries
    if text is not None:
        read = "zookeeper" if edge.kind == COORDINATE else f"broker {edge.target}"
        yield works("quorum" if edge.effect.state != "works" and edge.kind == FOLLOW else read, text, direct=True)


def closed_at_once(probe: ProbeResult, edge: Edge) -> bool:
    """Return whether a source's own host connects, in two samples, and is hung up on before it sends anything."""
    mine = probe.role == "broker" and probe.from_broker in edge.sources
    return mine and probe.failed is not None and probe.repeated and probe.failed.failure is ReadFailure.CLOSED_AT_ONCE


def unanswered(probe: ProbeResult) -> bool:
    """Return whether, in two samples, a request that fits in a packet and reads no disk gets no answer on an open connection."""
    stop = probe.failed
    return stop is not None and probe.repeated and (stop.layer, stop.failure) == ("api", ReadFailure.TIMEOUT)


@dataclass(frozen=True, kw_only=True)
class CauseKind:
    """What a reader calls causes with one remedy; causes of one `group` differ only at the failing side."""

    name: str
    group: str
    code: str  # of the check that reports it
    word: str  # for a headline
    fault: str  # for a sentence
    spares_requests: bool = False  # requests pass, and what they are for does not happen

    def named(self, code: str) -> str:
        """Return the fault as a check names it, with the code of the check that reports it where that is another one."""
        return self.fault if self.code == code else f"{self.fault} ({self.code})"


ADDRESS = CauseKind(name="address", group="address", code="KA302", word="unreachable", fault="an address out of reach")
PACKETS = CauseKind(name="packets", group="packets", code="KA302", word="lost packets", fault="a path that drops large packets")
LIMIT = CauseKind(name="limit", group="limit", code="KA302", word="limit", fault="a connection limit")
TLS = CauseKind(name="tls", group="login", code="KA412", word="TLS", fault="a failed TLS handshake")
LOGIN = CauseKind(name="login", group="login", code="KA412", word="login", fault="a refused login")
RIGHTS = CauseKind(name="rights", group="rights", code="KA401", word="unauthorised", fault="a missing ClusterAction right")
PROCESS = CauseKind(
    name="process", group="process", code="KA508", word="stalled", fault="a process that stalls", spares_requests=True
)
DISK = CauseKind(name="disk", group="disk", code="KA501", word="disk", fault="a disk that hangs", spares_requests=True)
THROTTLE = CauseKind(
    name="throttle", group="throttle", code="KA608", word="throttled", fault="a replication throttle", spares_requests=True
)

PROGRESS = CauseKind(
    name="progress", group="progress", code="KA604", word="catching up", fault="a catch-up", spares_requests=True
)
"""What is no fault. It leads where nothing was measured, until it is ruled out."""

LOADER = CauseKind(
    name="loader",
    group="loader",
    code="KA210",
    word="metadata loader",
    fault="a metadata loader or publisher that failed",
    spares_requests=True,
)

MIGRATION = CauseKind(
    name="migration",
    group="migration",
    code="KA909",
    word="migration",
    fault="a migration to KRaft that lost updates",
)

CONTROLLER = CauseKind(
    name="controller",
    group="controller",
    code="KA806",
    word="idle controller",
    fault="a controller that does not process what happens",
)

NO_CONTROLLER = CauseKind(
    name="no_controller",
    group="no_controller",
    code="KA201",
    word="no controller",
    fault="a KRaft controller that does not run",
)

# What keeps a broker from ZooKeeper: its registration shows it, whatever it is.
ENSEMBLE = CauseKind(
    name="zookeeper", group="zookeeper", code="KA113", word="unreachable", fault="a ZooKeeper that it does not reach"
)
SESSION_TLS = CauseKind(
    name="zookeeper_tls", group="zookeeper_login", code="KA113", word="TLS", fault="a failed TLS handshake with ZooKeeper"
)
SESSION_LOGIN = CauseKind(
    name="zookeeper_login", group="zookeeper_login", code="KA113", word="login", fault="a login that ZooKeeper refuses"
)
ZNODES = CauseKind(name="znodes", group="znodes", code="KA113", word="znode ACLs", fault="ACLs of znodes that deny it")
ANOTHER = CauseKind(
    name="another_zookeeper", group="another_zookeeper", code="KA113", word="another ZooKeeper", fault="another zookeeper.connect"
)
REGISTRATION = CauseKind(
    name="registration",
    group="registration",
    code="KA113",
    word="deleted registration",
    fault="a deleted registration",
)

Observe = Callable[[Facts, Edge], Iterable[EdgeObservation]]
Applies = Callable[[ClusterView], bool]


def _always(_view: ClusterView) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class KnownCause:
    """A known reason why an edge is broken.

    Attributes:
        name: in snake_case: function, file and candidate share it.
        kind: what a reader calls it.
        layer: the place in the order of a connection: name and tcp 1, the first bytes 2, tls 3, sasl 4, rights 5, effect 6.
        edges: kinds of edges that it can break.
        rare: it is named while nothing rules it out, and nothing hangs on it until something shows it.
        decided_by: what would decide, as a template: {target}, {sources}, {where} and {denied} in its sentence; {target}, {host},
            {port} and {address} in its commands.
        remedy: what repairs it, in a sentence; empty where the check that reports it has steps of its own.
        words: how it differs from other causes of its kind, in a sentence; empty where the kind has one cause.
        observe: what was observed, where `observed` does not end before.
        protocols: those of a listener with which it can break an edge; empty: any.
        applies: whether a cluster can have it at all; where it cannot, it is no candidate.
    """

    name: str
    kind: CauseKind
    layer: int
    edges: tuple[str, ...]
    rare: bool
    decided_by: str
    remedy: str
    words: str
    observe: Observe
    protocols: frozenset[str]
    applies: Applies

    def observed(self, facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
        """Yield what was observed of it: where no handshake or login comes first, none is looked for that failed."""
        used = None if edge.listener is None else edge.listener.protocol
        ruled_out = bool(self.protocols) and used is not None and used not in self.protocols
        if self.protocols:
            text = f"{edge.listener_name} is {used or 'not known'}"
            yield works("protocol", text, direct=True) if ruled_out else unknown("protocol", text)
        if not self.kind.spares_requests:
            # Who has a session may still be denied its registration, or have lost it.
            has_session = edge.kind == COORDINATE and edge.effect.state != "works" and self.layer >= _RIGHTS
            yield from () if has_session else _let_in(edge)
        if not ruled_out:
            yield from self.observe(facts, edge)


_REGISTRY: dict[str, KnownCause] = {}


def cause(  # noqa: PLR0913 -- what a cause is
    *,
    kind: CauseKind,
    layer: int,
    edges: tuple[str, ...],
    decided_by: str,
    rare: bool = False,
    remedy: str = "",
    words: str = "",
    protocols: frozenset[str] = frozenset(),
    applies: Applies = _always,
) -> Callable[[Observe], Observe]:
    """Register a cause; see `KnownCause`."""

    def wrap(function: Observe) -> Observe:
        _REGISTRY[function.__name__] = KnownCause(
            name=function.__name__,
            kind=kind,
            layer=layer,
            edges=edges,
            rare=rare,
            decided_by=decided_by,
            remedy=remedy,
            words=words,
            observe=function,
            protocols=protocols,
            applies=applies,
        )
        return function

    return wrap


def registered() -> Mapping[str, KnownCause]:
    """Return the causes whose modules were imported, by name."""
    return MappingProxyType(_REGISTRY)
