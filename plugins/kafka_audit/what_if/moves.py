"""Who becomes the controller if it goes, and which brokers each of them would not reach, or that would not reach it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import same_address
from kafka_audit.differences.tables import FollowedLeader
from kafka_audit.faults.controller_paths import ControllerPath, controller_paths
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.vote_edges import VoteEdges
from kafka_audit.model.text import brokers, named_nodes
from kafka_audit.what_if.losses import PartyLoss, running
from kafka_audit.what_if.ways import NotKnown

_CONTROL_PLANE = "control.plane.listener.name"


@dataclass(frozen=True, kw_only=True)
class NextController:
    """A node that may be the controller next: brokers that would get nothing of it, and those of which that is not known."""

    node: int
    unreached: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class ControllerMove:
    """What becomes of the controller: None for `lost` where it stays."""

    lost: int | None = None
    candidates: tuple[NextController, ...] = ()
    not_known: tuple[NotKnown, ...] = ()

    @property
    def cut(self) -> tuple[NextController, ...]:
        """The candidates that are measured to leave brokers out."""
        return tuple(candidate for candidate in self.candidates if candidate.unreached)


def controller_move(view: ClusterView, loss: PartyLoss) -> ControllerMove:
    """Return who may be the controller next, each tried against the edges that were measured."""
    left = [broker for broker in running(view) if broker not in loss.brokers]
    if view.kraft:
        edges = view.derived(VoteEdges)
        if edges.leader not in loss.controllers:
            return ControllerMove()
        paths = _to_voters(view)
        voters = sorted((edges.voters.following | edges.voters.uncertain) - loss.controllers)
        candidates = [_tried(node, {broker: _fetches(paths.get(node, ()), broker, node) for broker in left}) for node in voters]
        needs = "a vantage with role broker, and `controllers` in the cluster file or DescribeQuorum version 2 (Kafka 3.9)"
        return _move(edges.leader, candidates, "whether every broker reaches the next controller", needs)
    if view.controller not in loss.brokers:
        return ControllerMove()
    followed = {row.broker_id: frozenset(row.leaders) for row in view.differences.of(FollowedLeader)}
    # What gets nothing of the controller now loses nothing.
    served = [other for other in left if facts_of(view).edges.control(other).state != "missing"]
    reached = {other: _receives(view, other, left, followed) for other in served}
    candidates = [_tried(node, {other: states[node] for other, states in reached.items()}) for node in left]
    return _move(view.controller, candidates, "whether the next controller reaches every broker", "a vantage with role broker")


def _tried(node: int, reached: Mapping[int, bool | None]) -> NextController:
    return NextController(
        node=node,
        unreached=tuple(broker for broker, state in reached.items() if state is False and broker != node),
        unknown=tuple(broker for broker, state in reached.items() if state is None and broker != node),
    )


def _move(lost: int | None, candidates: list[NextController], what: str, needs: str) -> ControllerMove:
    unknown = {candidate.node: candidate.unknown for candidate in candidates if candidate.unknown}
    not_known: tuple[NotKnown, ...] = ()
    if unknown:
        whom = brokers({broker for others in unknown.values() for broker in others})
        not_known = (NotKnown(what=f"{what} ({named_nodes('node', unknown)}; {whom})", needs=needs),)
    return ControllerMove(lost=lost, candidates=tuple(candidates), not_known=not_known)


def _receives(
    view: ClusterView, target: int, sources: Sequence[int], followed: Mapping[int, frozenset[int]]
) -> Mapping[int, bool | None]:
    """Return which brokers, as the controller, would reach a broker; None where nothing shows it (ZooKeeper mode).

    A follower in the ISR reaches its leader on the listener between brokers, and has the right ClusterAction there. That says
    nothing where the controller uses a listener of its own.
    """
    facts = facts_of(view)
    cut, whole = {*facts.cut_from(target)}, facts.used_paths(target).whole
    own_listener = view.settings.get(target, _CONTROL_PLANE).state in {"set", "hidden"}
    shown = whole | (frozenset() if own_listener else {source for source in sources if target in followed.get(source, ())})
    return {source: False if source in cut else True if source in shown else None for source in sources}


def _to_voters(view: ClusterView) -> Mapping[int, list[ControllerPath]]:
    """Return the probes from the hosts of brokers to each voter."""
    found: dict[int, list[ControllerPath]] = {}
    for path in view.derived(controller_paths):
        for voter, address in view.voter_addresses.items():
            if path.role == "broker" and same_address(path.host_port, address) and not path.is_mapped:
                found.setdefault(voter, []).append(path)
    return found


def _fetches(paths: list[ControllerPath] | tuple[()], broker: int, node: int) -> bool | None:
    """Return whether a broker would reach a controller (KRaft)."""
    own = [path for path in paths if path.source == broker]
    if broker == node or any(path.reaches for path in own):
        return True
    return False if any(path.is_cut for path in own) else None
