"""The edges between the voters of the metadata quorum: who reaches whom at the address that others have of it.

A voter whose address others do not reach is silent: it fetches from the leader, and is caught up. Others connect to it only in an
election, and when it leads.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import address_text, same_address
from kafka_audit.faults.controller_access import refused_voters
from kafka_audit.faults.controller_paths import LOG, ControllerPath, controller_paths, paths_by_log
from kafka_audit.faults.facts import facts_of
from kafka_audit.model.finding import Confidence
from kafka_audit.model.quorum import majority
from kafka_audit.model.text import clean, listing

Passes = Callable[[int, int], bool | None]
"""Whether one voter reaches another one; None where that is not known."""


@dataclass(frozen=True, kw_only=True)
class Voters:
    """The voters of a quorum: all of them, those that follow, and those of which that is not certain."""

    all: frozenset[int]
    following: frozenset[int]
    uncertain: frozenset[int] = frozenset()

    @property
    def majority(self) -> int:
        """How many are a majority, of those as well that are down."""
        return majority(len(self.all))


def election_without(lost: Collection[int], voters: Voters, passes: Passes) -> str:
    """Return what becomes of the election after the loss of some voters.

    A candidate needs the votes of a majority of all voters, so that it must reach them; and once it leads, a majority must fetch
    from it, so that they must reach it: a leader that no majority fetches from resigns, and the election begins anew.

    Returns:
        `elects`, `fails`, `unknown` (what was not measured decides), or `short`: without a majority that follows, none is held.
    """
    gone = frozenset(lost)
    left, hoped = voters.following - gone, (voters.following | voters.uncertain) - gone
    if len(hoped) < voters.majority:
        return "short"
    if _elects(left, voters.majority, lambda source, target: passes(source, target) is True):
        return "elects"
    return "unknown" if _elects(hoped, voters.majority, lambda source, target: passes(source, target) is not False) else "fails"


def _elects(left: Collection[int], majority: int, passes: Callable[[int, int], bool]) -> bool:
    return any(
        1 + sum(passes(leader, other) for other in left if other != leader) >= majority
        and 1 + sum(passes(other, leader) for other in left if other != leader) >= majority
        for leader in left
    )


@dataclass(frozen=True, kw_only=True)
class VoteEdge:
    """Whether one voter reaches another.

    Attributes:
        works: None where it is not known.
        confidence: of one that is broken: measured on the host of its source, else suspected, if no party reaches the target that
            reaches other voters.
        paths: the probes that show that it is broken.
    """

    works: bool | None
    confidence: Confidence = Confidence.MEASURED
    paths: tuple[ControllerPath, ...] = ()


_UNKNOWN = VoteEdge(works=None)
_NAMES_KEY = "ssl.endpoint.identification.algorithm"
_FETCHES_MS = 2_000
"""A voter is caught up twice per second; without an answer for so long it starts an election (the default of Kafka)."""


class VoteEdges:
    """The edges between the voters of one view, at its newest leader."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the view; nothing is read yet."""
        self._view = view
        newest = view.quorum.now.newest
        self.leader = -1 if newest is None else newest.leader_id

    @cached_property
    def voters(self) -> Voters:
        """The voters; one that does not fetch now is uncertain (it may restart), as all are that no times are reported of."""
        now = self._view.quorum.now
        every = frozenset(now.voters)
        fetching = {node for node, behind in now.behind_ms.items() if behind is not None and behind <= _FETCHES_MS}
        following = every & (fetching | {self.leader})
        return Voters(all=every, following=following, uncertain=every - following - self._view.quorum.lagging)

    @property
    def knows_lag(self) -> bool:
        """Whether the leader reports who follows it."""
        return bool(self._view.quorum.now.behind_ms)

    @cached_property
    def addresses(self) -> Mapping[int, str]:
        """The address of each voter, where it is known."""
        return {
            voter: address_text(*address) for voter, address in self._view.voter_addresses.items() if voter in self.voters.all
        }

    @cached_property
    def _edges(self) -> Mapping[tuple[int, int], VoteEdge]:
        return {pair: self._edge(*pair) for pair in permutations(sorted(self.voters.all), 2)}

    def edge(self, source: int, target: int) -> VoteEdge:
        """Return the edge from one voter to another."""
        return self._edges[source, target]

    def _edge(self, source: int, target: int) -> VoteEdge:
        if target == self.leader and source in self.voters.following:
            return VoteEdge(works=True)  # it fetches there
        if target not in self.voters.following:
            return _UNKNOWN  # its port may be closed because it does not run
        own = [path for path in self._paths[target] if path.source == source]
        # A probe logs in nowhere, and from another host it verifies no certificate: what a log says of that comes first.
        if refused := [path for path in own if path.is_turned_away and path.role == LOG]:
            return VoteEdge(works=False, paths=tuple(refused))
        return self._probed(source, target, own)

    def _probed(self, source: int, target: int, own: Collection[ControllerPath]) -> VoteEdge:
        """Return what the probes from the host of the source say, else those of others."""
        reaches = any(path.reaches for path in own)
        # A vantage that does not reach the leader, from which this voter fetches, is not where it claims.
        closed = [path for path in own if path.is_cut and (self._is_there(path) or path.role == LOG)]
        if closed and not reaches:
            return VoteEdge(works=False, paths=tuple(closed))
        if refused := self._turned_away(source, target):
            return VoteEdge(works=False, confidence=Confidence.SUSPECTED, paths=refused)
        if reaches:
            return _UNKNOWN if source in self.refused_by_settings.get(target, ()) else VoteEdge(works=True)
        return _UNKNOWN if any(path.connects for path in own) else self._by_others(target)

    @cached_property
    def refused_by_settings(self) -> Mapping[int, frozenset[int]]:
        """The voters that do not let others in, by their files, and whom: no probe logs in or votes."""
        found = refused_voters(self._view)
        return {target: found[target] & self.voters.all for target in sorted(found) if found[target] & self.voters.all}

    def passes(self, source: int, target: int) -> bool | None:
        """Return whether one voter reaches another."""
        return self.edge(source, target).works

    def measured(self, source: int, target: int) -> bool | None:
        """Return the same, where what is suspected is not known."""
        edge = self.edge(source, target)
        return edge.works if edge.confidence is Confidence.MEASURED else None

    def _by_others(self, target: int) -> VoteEdge:
        """Return what others' probes say of an edge that was not measured from its source: at best, that no party gets there."""
        others = [path for path in self._paths[target] if path.source != target]
        closed = tuple(path for path in others if path.is_cut and self._counts(path))
        if not closed or any(path.connects for path in others):
            return _UNKNOWN
        return VoteEdge(works=False, confidence=Confidence.SUSPECTED, paths=closed)

    def _turned_away(self, source: int, target: int) -> tuple[ControllerPath, ...]:
        """Return what parties were turned away by at a voter, as its certificate, so that the source may be, too.

        A probe accepts what the cluster file trusts, and not what a voter does. It says nothing if a
        party accepts the certificate, or if it does not accept that of the leader either, whom voters follow.
        """
        paths = [path for path in self._paths[target] if path.is_turned_away]
        trusted = any(path.state == "open" for path in self._paths[target])
        by_leader = {_origin(path) for path in self._paths.get(self.leader, ()) if path.state == "open"}
        unchecked = any(self._view.settings.is_emptied(source, key) for key in self._name_keys(source))
        return tuple(
            path
            for path in paths
            if (path.role == LOG or _origin(path) in by_leader)
            and not (path.layer == "tls" and trusted)
            and not (path.checks_names and unchecked)
        )

    def _name_keys(self, node: int) -> tuple[str, str]:
        return _NAMES_KEY, f"listener.name.{self._view.settings.controllers_listener(node).lower()}.{_NAMES_KEY}"

    def _is_there(self, path: ControllerPath) -> bool:
        return path.source == self.leader or self.leader in self._reached[_origin(path)]

    def _counts(self, path: ControllerPath) -> bool:
        """Return whether what does not reach one voter says something of it: it reaches others, and this worker most of them."""
        enough = self.voters.majority if path.source is None else 1
        return path.role == LOG or len(self._reached[_origin(path)]) >= enough

    @cached_property
    def _paths(self) -> Mapping[int, list[ControllerPath]]:
        found: dict[int, list[ControllerPath]] = defaultdict(list)
        logged = (path for voter in self.voters.all for path in paths_by_log(self._view, voter))
        for path in (*self._view.derived(controller_paths), *logged):
            for voter, address in self._view.voter_addresses.items():
                if same_address(path.host_port, address) and not path.is_mapped:
                    found[voter].append(path)
        return found

    @cached_property
    def _reached(self) -> Mapping[tuple[str, int | None], set[int]]:
        found: dict[tuple[str, int | None], set[int]] = defaultdict(set)
        for voter, paths in self._paths.items():
            for path in paths:
                if path.connects:
                    found[_origin(path)].add(voter)
        return found

    def cut(self) -> tuple[int, ...]:
        """Return the voters that no other one reaches."""
        every = sorted(self.voters.all)
        return tuple(
            target
            for target in every
            if target != self.leader and all(self.edge(source, target).works is False for source in every if source != target)
        )

    def are_measured(self, targets: Iterable[int]) -> bool:
        """Return whether an edge to each of these is measured as broken."""
        every = self.voters.all
        return all(any(self.measured(source, target) is False for source in every if source != target) for target in targets)

    def broken(self) -> Mapping[int, tuple[ControllerPath, ...]]:
        """Return the probes that show broken edges, by their target."""
        every = sorted(self.voters.all)
        edges = {target: [self.edge(source, target) for source in every if source != target] for target in every}
        found = {target: dict.fromkeys(path for edge in of_target for path in edge.paths) for target, of_target in edges.items()}
        return {target: tuple(paths) for target, paths in found.items() if paths}

    def begins_at(self, node: int, paths: Iterable[ControllerPath]) -> bool | None:
        """Return whether paths begin at the host of a node, as they should: they lead to the leader if it fetches there."""
        every = self._view.derived(controller_paths)
        leading = {path.address for path in every if path.node_id == self.leader}
        leading |= {path.address for path in self._paths.get(self.leader, ())}
        there = [path for path in paths if path.address in leading]
        now = self._view.quorum.now
        follows = now.newest is None or (node in now.replicas and node not in now.late)
        if not follows or any(path.connects for path in there):
            return True
        fetches = node != self.leader and facts_of(self._view).edges.follow(node).carries is not None
        return False if there and fetches else None

    def reached_by_worker(self) -> tuple[int, ...]:
        """Return the voters whose address answers this worker."""
        return tuple(sorted(voter for (_, source), voters in self._reached.items() if source is None for voter in voters))

    def unmeasured(self) -> tuple[int, ...]:
        """Return the voters from which edges were not measured."""
        every = sorted(self.voters.all)
        return tuple(
            source for source in every if any(self.edge(source, other).works is None for other in every if other != source)
        )


def _origin(path: ControllerPath) -> tuple[str, int | None]:
    return path.vantage, path.source


def described_paths(paths: Iterable[ControllerPath], nodes: Collection[int]) -> str:
    """Return from where some probes began, and how they ended, for a sentence; `nodes` are the voters."""
    found = [*paths]
    hosts = sorted({path.source for path in found if path.source is not None})
    controllers, brokers = [node for node in hosts if node in nodes], [node for node in hosts if node not in nodes]
    begins = [
        *([f"the host{'' if len(controllers) == 1 else 's'} of {_named('controller', controllers)}"] if controllers else []),
        *([f"the host{'' if len(brokers) == 1 else 's'} of {_named('broker', brokers)}"] if brokers else []),
        *(["this worker"] if any(path.source is None for path in found) else []),
    ]
    errors = listing(sorted({f"{path.layer}, {clean(path.error, 60)}" for path in found}), 2)
    return f"from {listing(begins, 3)}: {errors}"


def _named(kind: str, ids: Collection[int]) -> str:
    return f"{kind}{'' if len(ids) == 1 else 's'} {listing(map(str, ids), 5)}"
