"""The diagnosis of an edge: its candidates, each with what speaks for and against it, and how sure the first of them is."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import NamedTuple

from kafka_audit.cluster.view import ClusterView
from kafka_audit.faults.edges import CONTROL, COORDINATE, FOLLOW, REPLICATE, Edge
from kafka_audit.faults.facts import Facts, facts_of
from kafka_audit.faults.fault import EdgeObservation, Fault, known_faults
from kafka_audit.model import quoting
from kafka_audit.model.commands import prose
from kafka_audit.model.finding import Confidence


@dataclass(frozen=True, kw_only=True)
class WeighedFault:
    """A fault, what shows it on an edge, and what speaks against it."""

    fault: Fault
    edge: Edge
    shown_by: tuple[EdgeObservation, ...]
    against: tuple[EdgeObservation, ...]
    left_open_by: tuple[EdgeObservation, ...]

    @property
    def decided_by(self) -> str:
        """What would decide it, for a sentence."""
        return _filled(self.fault.decided_by, self.edge)

    @property
    def measured(self) -> bool:
        """Return whether it was observed between the two parties, and nothing that was observed there contradicts it."""
        return any(observation.direct for observation in self.shown_by) and not any(
            observation.direct for observation in self.against
        )

    @property
    def possible(self) -> bool:
        """Return whether nothing rules it out."""
        return self.measured or not self.against


class Leading(NamedTuple):
    """The fault by which an edge is broken, the first of its group that is possible, and how sure that is."""

    fault: Fault
    confidence: Confidence


@dataclass(frozen=True, kw_only=True, eq=False)
class Diagnosis:
    """What is known of one edge, as far as it was asked for: each of its faults is weighed once."""

    edge: Edge
    faults: tuple[Fault, ...]
    weighed: Callable[[Fault], WeighedFault]

    @cached_property
    def candidates(self) -> tuple[WeighedFault, ...]:
        """All candidates, in the order of layers; those that are ruled out are among them."""
        return tuple(map(self.weighed, self.faults))

    @cached_property
    def measured(self) -> tuple[WeighedFault, ...]:
        """The candidates that were measured; the first is the one that keeps the others from being tried."""
        return tuple(candidate for candidate in self.candidates if candidate.measured)

    @cached_property
    def possible(self) -> tuple[WeighedFault, ...]:
        """The candidates that nothing rules out: the measured ones, where there are any."""
        return self.measured or tuple(candidate for candidate in self.candidates if candidate.possible)

    def of_check(self, code: str) -> tuple[WeighedFault, ...]:
        """Return the candidates that one check reports, those that are ruled out among them."""
        return tuple(self.weighed(fault) for fault in self.faults if fault.check == code)

    @cached_property
    def kinds(self) -> tuple[Fault, ...]:
        """What is possible, one fault of each kind."""
        return one_of_each_kind(candidate.fault for candidate in self.possible)

    @cached_property
    def usual(self) -> tuple[Fault, ...]:
        """The kinds that a headline names while nothing is decided: what is shown, and what is not rare."""
        named = [candidate.fault for candidate in self.possible if candidate.shown_by or not candidate.fault.rare]
        return one_of_each_kind(named) or self.kinds

    @cached_property
    def leading(self) -> Leading | None:
        """What the edge is broken by; None where it is not broken, or undecided."""
        return self.likely if self.measured or self.edge.effect.state == "missing" else None

    @cached_property
    def likely(self) -> Leading | None:
        """The same of an edge that is broken, whatever shows that.

        Inferred: each rival has an observation against it. Suspected: not each has, and one alone has an observation for it, or
        all others are rare. A rare fault for which nothing speaks never leads: there may be unknown ones. What is in
        progress leads where nothing but rare causes is shown beside it.
        """
        if self.measured:
            return Leading(self.measured[0].fault, Confidence.MEASURED)
        shown = [candidate for candidate in self.possible if candidate.shown_by]
        ordinary = [candidate for candidate in shown if candidate.fault.in_progress]
        if ordinary:  # settings that are always there, and what rarely breaks an edge, do not outweigh it
            shown = [candidate for candidate in shown if not candidate.fault.rare and candidate not in ordinary] or ordinary
        groups = _groups(shown) or _groups([candidate for candidate in self.possible if not candidate.fault.rare])
        if len(groups) != 1:
            return None
        first = next(candidate.fault for candidate in self.possible if candidate.fault.group == groups[0])
        return Leading(first, Confidence.INFERRED if len(_groups(self.possible)) == 1 else Confidence.SUSPECTED)

    def confidence(self, code: str) -> Confidence | None:
        """Return how sure it is that what a check reports breaks the edge; None where another fault leads, or none."""
        return self.leading.confidence if self.leading is not None and self.leading.fault.check == code else None

    def rivals(self, group: str) -> tuple[Fault, ...]:
        """Return the kinds of faults of other groups that are not ruled out."""
        return tuple(fault for fault in self.kinds if fault.group != group)


def one_of_each_kind(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the first fault of each kind."""
    found: dict[str, Fault] = {}
    for fault in faults:
        found.setdefault(fault.kind, fault)
    return tuple(found.values())


def _groups(candidates: Sequence[WeighedFault]) -> list[str]:
    return list(dict.fromkeys(candidate.fault.group for candidate in candidates))


def most_exact(measured: Sequence[WeighedFault]) -> tuple[WeighedFault, ...]:
    """Return those of measured causes that more than a log shows, else those that nothing contradicts, else all.

    A line of a log may say that the handshake failed, and not why: it shows several faults at once.
    """
    more = tuple(candidate for candidate in measured if any(not shown.of_log for shown in candidate.shown_by))
    return more or tuple(candidate for candidate in measured if not candidate.against) or tuple(measured)


class _DiagnosesByEdge:
    """The diagnoses of one view by edge: several checks and incidents read the same ones."""

    def __init__(self, _view: ClusterView) -> None:
        self.by_edge: dict[Edge, Diagnosis] = {}


def diagnosed(facts: Facts, edge: Edge) -> Diagnosis:
    """Return the diagnosis of an edge; there is one for each view."""
    known = facts.view.derived(_DiagnosesByEdge).by_edge
    if edge not in known:
        faults = tuple(fault for fault in known_faults() if fault.concerns(facts.view, edge))
        known[edge] = Diagnosis(edge=edge, faults=faults, weighed=cache(partial(_weighed, facts, edge)))
    return known[edge]


def _weighed(facts: Facts, edge: Edge, fault: Fault) -> WeighedFault:
    observed = tuple(fault.observed(facts, edge))
    return WeighedFault(
        fault=fault,
        edge=edge,
        shown_by=tuple(observation for observation in observed if observation.state == "fails"),
        against=tuple(observation for observation in observed if observation.state == "works"),
        left_open_by=tuple(observation for observation in observed if observation.state == "unknown"),
    )


def diagnoses_into(view: ClusterView, broker: int, among: tuple[int, ...] = ()) -> tuple[Diagnosis, ...]:
    """Return the diagnoses of the edges that end at a broker, of its controller first; with `among`, from these brokers alone."""
    facts = facts_of(view)
    edges = facts.edges.into(broker)
    if among:
        followers = (edge for edge in edges if edge.kind == REPLICATE)
        edges = tuple(edge if edge.sources else replace(edge, sources=among) for edge in followers)
    return tuple(diagnosed(facts, edge) for edge in edges)


def catches_up(view: ClusterView, leader: int | None, follower: int) -> bool:
    """Return whether a follower that is out of sync may be catching up, and nothing that was observed is another reason."""
    if leader is None or not facts_of(view).edges.may_catch_up(leader, follower):
        return False
    into = (one for one in diagnoses_into(view, leader) if one.edge.kind == REPLICATE and follower in one.edge.sources)
    return all(one.leading is not None and one.leading.fault.in_progress for one in into)


def following(view: ClusterView, broker: int) -> Diagnosis:
    """Return the diagnosis of the edge from a KRaft broker to its controllers."""
    facts = facts_of(view)
    return diagnosed(facts, facts.edges.follow(broker))


def coordinating(view: ClusterView, broker: int) -> Diagnosis:
    """Return the diagnosis of the edge from a broker to ZooKeeper."""
    facts = facts_of(view)
    return diagnosed(facts, facts.edges.coordinate(broker))


def _filled(template: str, edge: Edge) -> str:
    endpoint = edge.endpoint
    where = f"the host of {edge.who}" if edge.sources else "another broker's host"
    # A refused update is in the log of either side, the controller's in a file of its own; a refused fetch in the follower's.
    denied = "`CLUSTER_AUTHORIZATION_FAILED` in server.log"
    if edge.kind == CONTROL:
        denied = "`handling request` in its server.log, or `CLUSTER_AUTHORIZATION_FAILED` in state-change.log"
    texts = {"target": str(edge.target), "sources": edge.who, "where": where, "denied": denied}
    words = {FOLLOW: {"host": "CONTROLLER", "port": "9093"}, COORDINATE: {"host": "ZOOKEEPER", "port": "2181"}}.get(edge.kind, {})
    if endpoint is not None:
        words = {"host": endpoint.host, "port": str(endpoint.port), "address": endpoint.address}
    return quoting.plain_prose(prose(template, texts, {"target": str(edge.target), **words}))
