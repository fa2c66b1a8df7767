"""The metadata quorum, or the ZooKeeper ensemble, without some of its members."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kafka_audit.cluster.settings import ROLES
from kafka_audit.cluster.view import ClusterView
from kafka_audit.faults.vote_edges import VoteEdges, election_without
from kafka_audit.model.quorum import majority
from kafka_audit.model.tables import EnsembleServer, ZookeeperMember
from kafka_audit.model.text import listing, named_nodes
from kafka_audit.what_if.losses import PartyLoss, zookeeper_voters
from kafka_audit.what_if.ways import NotKnown

_AWAY = {"idle", "down"}


@dataclass(frozen=True, kw_only=True)
class QuorumLeft:
    """Who decides about metadata, and whether it still can.

    Attributes:
        kind: `kraft` or `zookeeper`.
        voters: how many there are, those that are down among them.
        lost: how many of them go.
        left: how many work then, those of which it is uncertain left out.
        majority: how many are needed.
        elects: whether there is a leader then; None where that is not known.
        moves: whether the leader is among those that go.
        not_known: why `elects` is None.
    """

    kind: str
    voters: int
    lost: int
    left: int
    majority: int
    elects: bool | None
    moves: bool = False
    not_known: tuple[NotKnown, ...] = ()


def quorum_without(view: ClusterView, loss: PartyLoss) -> QuorumLeft:
    """Return what becomes of the quorum."""
    return _kraft(view, loss) if view.kraft else _ensemble(view, loss)


def _kraft(view: ClusterView, loss: PartyLoss) -> QuorumLeft:
    edges = view.derived(VoteEdges)
    voters = edges.voters
    if not voters.all:
        may_vote = any(not _is_broker_alone(view, broker) for broker in loss.brokers) or not (loss.brokers or loss.disks)
        gap = quorum_gap(view)
        unread = () if gap is None else (replace(gap, decides=may_vote),)
        return QuorumLeft(kind="kraft", voters=0, lost=0, left=0, majority=0, elects=None, not_known=unread)
    lost, moves = loss.controllers & voters.all, edges.leader in loss.controllers
    left = voters.following - lost
    state = election_without(lost, voters, edges.passes)
    if not lost and state != "short":
        state = "elects"  # nothing becomes of it
    elif not moves and state != "short":
        state = "elects" if len(left) >= voters.majority else "unknown"  # the leader stays as long as a majority follows it
    return QuorumLeft(
        kind="kraft",
        voters=len(voters.all),
        lost=len(lost),
        left=len(left),
        majority=voters.majority,
        elects={"elects": True, "fails": False, "short": False}.get(state),
        moves=moves,
        not_known=tuple(_unmeasured(edges)) if state == "unknown" else (),
    )


def quorum_gap(view: ClusterView) -> NotKnown | None:
    """Return why the voters of a KRaft cluster are not known; None where they are, and with ZooKeeper."""
    if not view.kraft or view.quorum.now.voters:
        return None
    why, needs = view.quorum.unread()
    return NotKnown(what=f"who votes in the metadata quorum: {why}", needs=needs)


def _is_broker_alone(view: ClusterView, node: int) -> bool:
    """Return whether a node is known to be no controller; without the quorum only its roles show whether it votes."""
    return {role.strip() for role in (view.settings.running(node, ROLES).value or "").split(",")} == {"broker"}


def _unmeasured(edges: VoteEdges) -> Iterator[NotKnown]:
    if edges.voters.uncertain:
        uncertain = edges.voters.uncertain
        follow = "follows" if len(uncertain) == 1 else "follow"
        what = f"whether {named_nodes('controller', uncertain)} {follow} the leader: not caught up now"
        yield NotKnown(what=what, needs="another audit" if edges.knows_lag else "DescribeQuorum version 1 (Kafka 3.3)")
    nodes = edges.unmeasured()
    if nodes:
        needs = f"a vantage with role controller, which runs on the hosts of controllers {listing(map(str, nodes), 5)}"
        yield NotKnown(what="whether the other voters reach each other, and elect a leader", needs=needs)


def _ensemble(view: ClusterView, loss: PartyLoss) -> QuorumLeft:
    voters = zookeeper_voters(view)
    states = {row.member: row.state for row in view.newest(ZookeeperMember)}
    by_voter = {
        voter: {_state(member, state, {voter, *hosts}) for member, state in states.items()} for voter, hosts in voters.items()
    }
    away = {voter for voter, found in by_voter.items() if found & _AWAY}
    unsure = {voter for voter, found in by_voter.items() if not found & {*_AWAY, "serving"}}
    left, needed = set(voters) - loss.servers - away, majority(len(voters))
    elects = None if len(left) >= needed > len(left - unsure) else len(left) >= needed
    not_known = []
    if loss.servers and elects is None:
        what = f"whether ZooKeeper's {listing(sorted(left & unsure), 5)} serve requests"
        not_known.append(NotKnown(what=what, needs="srvr in 4lw.commands.whitelist, and every server under `zookeeper`"))
    if loss.servers and not view.newest(EnsembleServer):
        what = "whether the connection string names the whole ensemble"
        not_known.append(NotKnown(what=what, needs="read on /zookeeper/config (ZooKeeper 3.5)", decides=elects is True))
    return QuorumLeft(
        kind="zookeeper",
        voters=len(voters),
        lost=len(loss.servers),
        left=len(left - unsure),
        majority=needed if voters else 0,
        elects=elects if loss.servers else True if voters else None,
        not_known=tuple(not_known),
    )


def _state(member: str, state: str, names: set[str]) -> str:
    """Return the state of a server of the connection string if it is the one with these names, "" otherwise."""
    return state if member in names or member.rpartition(":")[0] in names else ""
