"""What a fault of an edge is: the data of its YAML file, and a pure function of the edge that yields what was observed of it.

What none of its observations rules out stays possible, and is named.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.cluster.listeners.probes import ProbeResult
from kafka_audit.cluster.view import ClusterView
from kafka_audit.faults.edges import COORDINATE, FOLLOW, Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.model.package_yaml import package_yaml
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import LogLine
from kafka_audit.says.signs import HANDSHAKE, login_fault

__all__ = ["Edge", "EdgeObservation", "Facts", "Observations", "fails", "fault", "unanswered", "unknown", "works"]
"""What a module of a fault imports from here; the other names are for the solver."""


@dataclass(frozen=True, kw_only=True)
class EdgeObservation:
    """What was observed of an edge at the layer of a fault.

    One that `fails` shows the fault, one that `works` rules it out, one that is `unknown` says why it is neither. A `direct` one
    was made between the two parties of the edge: a probe from that host, a line of that side's log, that side's own answer. All
    others are indirect: settings of both sides, or what another party observed.

    `sources` are those of whom it was observed, where these are not all of the edge; `details` what the fault's remedy names.
    """

    state: str
    direct: bool
    observer: str
    text: str
    sources: tuple[int, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def of_log(self) -> bool:
        """Whether a line of a log shows it, which often says that something failed, and not why."""
        return self.observer.startswith("log of ")


Observations = Iterator[EdgeObservation]
"""What a fault's function yields."""


def fails(observer: str, text: str, *, direct: bool = False, sources: Iterable[int] = (), **details: str) -> EdgeObservation:
    """Return an observation that shows a fault."""
    return EdgeObservation(state="fails", direct=direct, observer=observer, text=text, sources=tuple(sources), details=details)


def works(observer: str, text: str, *, direct: bool = False) -> EdgeObservation:
    """Return an observation that rules a fault out."""
    return EdgeObservation(state="works", direct=direct, observer=observer, text=text)


def unknown(observer: str, text: str) -> EdgeObservation:
    """Return an observation that leaves a fault open."""
    return EdgeObservation(state="unknown", direct=False, observer=observer, text=text)


LAYERS = ("tcp", "api", "tls", "sasl", "rights", "effect")
"""Layers of faults, in the order of a connection; `tcp` has names as well."""

_PASSED = {"tcp": "the connection opens", "tls": "the handshake succeeds", "sasl": "it has a session"}
"""What a line about a later layer says of one."""

_MODES: Mapping[str, Callable[[ClusterView], bool]] = {
    "any": lambda _: True,
    "zookeeper": lambda view: view.zookeeper_read and view.migrating is None,
    "migration": lambda view: view.migrating is not None,
}


def begins_at(probe: ProbeResult) -> tuple[int, ...]:
    """Return the broker on whose host a probe begins, as the sources of an observation; none of a vantage of clients."""
    return () if probe.from_broker is None else (probe.from_broker,)


def closed_at_once(probe: ProbeResult, edge: Edge) -> bool:
    """Return whether a source's own host connects, in two samples, and is hung up on before it sends anything."""
    mine = probe.role == "broker" and probe.from_broker in edge.sources
    return mine and probe.failed is not None and probe.repeated and probe.failed.failure is ReadFailure.CLOSED_AT_ONCE


def unanswered(probe: ProbeResult) -> bool:
    """Return whether, in two samples, a request that fits in a packet and reads no disk gets no answer on an open connection."""
    stop = probe.failed
    return stop is not None and probe.repeated and (stop.layer, stop.failure) == ("api", ReadFailure.TIMEOUT)


@dataclass(frozen=True, kw_only=True)
class FaultLines:
    """The lines of logs that show a fault, and those that rule it out.

    Attributes:
        check: the code that signatures of such lines have.
        says: what such a line has, its signature's name before its text, where lines of that code show several faults.
        later: the codes of lines about what comes later in a connection.
    """

    check: str
    says: re.Pattern[str] | None = None
    later: tuple[str, ...] = ()

    @staticmethod
    def of(raw: Mapping[str, Any]) -> "FaultLines":
        """Return what a file says of them."""
        words = raw.get("says")
        pattern = None if words is None else re.compile(words, re.IGNORECASE)
        return FaultLines(check=raw["check"], says=pattern, later=tuple(raw.get("later", ())))


@dataclass(frozen=True, kw_only=True, eq=False)
class Fault:
    """A known reason why an edge is broken: the keys of its file, and its function.

    Attributes:
        name: in snake_case: function, files and cases share it.
        kind: what a reader takes for one candidate, with one word, sentence and remedy: several faults may be of one kind.
        group: kinds that differ only at the failing side are one group; the kind, where it is not named.
        check: the code of the check that reports it.
        word: for a headline.
        sentence: what is wrong, for a sentence.
        words: how it differs from other faults of its kind, in a sentence; empty where the kind has one fault.
        layer: one of `LAYERS`.
        edges: kinds of edges that it can break.
        protocols: those of a listener with which it can break an edge; empty: any.
        mode: of clusters that can have it at all; in others it is no candidate.
        rare: it is named while nothing rules it out, and nothing hangs on it until something shows it.
        in_progress: it is no fault, and ends by itself. It leads where nothing was measured, until it is ruled out.
        spares_requests: requests pass, and what they are for does not happen.
        one_end: why it can be at one end of an edge only. Any other fault is ruled out by what was seen at both ends.
        lines: the lines of logs that show it.
        decided_by: what would decide, as a template: {target}, {sources}, {where} and {denied} in its sentence; {target}, {host},
            {port} and {address} in its commands.
        remedy: what repairs it, as a template for a sentence, over {target}, {sources} and the details of what shows it; empty
            where the check that reports it has steps of its own.
        reason: why a login fails, for a headline, as a template over the same; with `several` brokers, what holds for each.
        observe: what was observed, where `observed` does not end before.
    """

    name: str
    kind: str
    group: str
    check: str
    word: str
    sentence: str
    words: str = ""
    layer: str
    edges: frozenset[str]
    protocols: frozenset[str] = frozenset()
    mode: str = "any"
    rare: bool = False
    in_progress: bool = False
    spares_requests: bool = False
    one_end: str = ""
    lines: FaultLines | None = None
    decided_by: str
    remedy: str = ""
    reason: str = ""
    observe: Callable[[Facts, Edge], Iterable[EdgeObservation]]

    def named(self, code: str) -> str:
        """Return the fault as a check names it, with the code of the check that reports it where that is another one."""
        return self.sentence if self.check == code else f"{self.sentence} ({self.check})"

    @property
    def depth(self) -> int:
        """The place of its layer in the order of a connection."""
        return LAYERS.index(self.layer)

    def concerns(self, view: ClusterView, edge: Edge) -> bool:
        """Return whether it is a candidate of an edge."""
        return edge.kind in self.edges and _MODES[self.mode](view)

    def observed(self, facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
        """Yield what was observed of it: where no handshake or login comes first, none is looked for that failed."""
        used = None if edge.listener is None else edge.listener.protocol
        ruled_out = bool(self.protocols) and used is not None and used not in self.protocols
        if self.protocols:
            text = f"{edge.listener_name} is {used or 'not known'}"
            yield works("protocol", text, direct=True) if ruled_out else unknown("protocol", text)
        if not self.spares_requests:
            # Who has a session may still be denied its registration, or have lost it.
            has_session = edge.kind == COORDINATE and edge.effect.state != "works" and self.depth >= LAYERS.index("rights")
            yield from () if has_session else _let_in(edge)
        if not ruled_out:
            own = tuple(self.observe(facts, edge))
            yield from own
            yield from self._logged(facts, edge, own)

    def _logged(self, facts: Facts, edge: Edge, own: Iterable[EdgeObservation]) -> Iterator[EdgeObservation]:
        """Yield what logs say of it: the newest line about its layer, and one about a later layer.

        What shows the fault now between the two parties is newer than a line about what came later in a connection.
        """
        if self.lines is None:
            return
        shown = facts.lines(edge, self.lines.check)[:1]
        for line in shown:
            depth, text = LAYERS.index(_layer(line, self.lines.check)), says(line)
            if depth == self.depth and self.is_named_by(line):
                refused = facts.view.logs.refused(line)
                yield fails(f"log of broker {line.broker_id}", text, direct=True, sources=refused)
            else:
                passed = f", so {_PASSED[self.layer]}" if depth > self.depth else ""
                yield works(f"log of broker {line.broker_id}", f"{text}{passed}", direct=True)
        if not any(observation.direct and observation.state == "fails" for observation in own):
            later = (line for code in self.lines.later for line in facts.lines(edge, code))
            for line in [line for line in later if all((line.last_ms or 0) >= (one.last_ms or 0) for one in shown)][:1]:
                yield works(f"log of broker {line.broker_id}", f"{says(line)}, so {_PASSED[self.layer]}", direct=True)

    def is_named_by(self, line: LogLine) -> bool:
        """Return whether a line about its layer names it, or no known fault of that layer."""
        if self.lines is None or self.lines.says is None:
            return True
        text = " ".join(filter(None, (line.signature, line.detail, line.exception, line.text)))
        return next((says for says in _said_at(self.layer) if says.search(text)), self.lines.says) == self.lines.says


def _layer(line: LogLine, code: str) -> str:
    """Return the layer at which a line, whose signature has this code, says that a connection fails."""
    return {"KA302": "tcp", "KA401": "rights"}.get(code) or ("tls" if login_fault(line) == HANDSHAKE else "sasl")


def _let_in(edge: Edge) -> Iterator[EdgeObservation]:
    """Yield that requests pass on an edge: their sender reached the other end, which accepted it."""
    text = edge.effect.text if edge.effect.state == "works" else edge.carries
    if text is not None:
        read = "zookeeper" if edge.kind == COORDINATE else f"broker {edge.target}"
        yield works("quorum" if edge.effect.state != "works" and edge.kind == FOLLOW else read, text, direct=True)


_REGISTRY: dict[str, Fault] = {}


def _said_at(layer: str) -> Iterator[re.Pattern[str]]:
    """Yield what lines say of the faults of a layer, by the names of these."""
    for _, one in sorted(_REGISTRY.items()):
        if one.layer == layer and one.lines is not None and one.lines.says is not None:
            yield one.lines.says


def fault(observe: Callable[[Facts, Edge], Iterable[EdgeObservation]]) -> Callable[[Facts, Edge], Iterable[EdgeObservation]]:
    """Register a fault: what its file, beside the module of the function, says of it, and the function."""
    name = observe.__name__
    raw = package_yaml(observe.__module__.rpartition(".")[0], f"{name}.yaml", until=("world", "cases"))
    kind = raw.get("kind", raw["fault"])
    read = {
        "name": raw.pop("fault"),
        "kind": kind,
        "group": raw.get("group", kind),
        "edges": frozenset(raw["edges"]),
        "protocols": frozenset(raw.get("protocols", ())),
        "lines": FaultLines.of(raw["lines"]) if "lines" in raw else None,
        "observe": observe,
    }
    _REGISTRY[name] = Fault(**{**raw, **read})
    return observe


def registered() -> Mapping[str, Fault]:
    """Return the faults whose modules were imported, by name."""
    return MappingProxyType(_REGISTRY)


@cache
def known_faults() -> tuple[Fault, ...]:
    """Return all faults, in the order of layers, importing every module of every family once (works inside a zip too)."""
    here = importlib.import_module(__package__)
    families = [module.name for module in pkgutil.iter_modules(here.__path__, f"{__package__}.") if module.ispkg]
    for family in families:
        for module in pkgutil.iter_modules(importlib.import_module(family).__path__, f"{family}."):
            importlib.import_module(module.name)
    return tuple(sorted(registered().values(), key=lambda fault: (fault.depth, fault.rare, fault.name)))
