"""What goes: names as a user writes them, and the parties of a cluster that they mean."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from re import sub

from kafka_audit.cluster.releases import finalized
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LossEffect, LostBroker, LostDisk
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import EnsembleServer, ZookeeperMember
from kafka_audit.model.text import clean, did_you_mean, listing

BROKER, RACK, CONTROLLER, DISK, ZOOKEEPER = "broker", "rack", "controller", "disk", "zookeeper"
KINDS = (BROKER, RACK, CONTROLLER, DISK, ZOOKEEPER)
"""What `--without` and `--each` take."""

_NUMBERED = {BROKER, CONTROLLER}
_MOST_DIGITS = 10  # of an id, which is Java's int


@dataclass(frozen=True, kw_only=True)
class PartyLoss:
    """Parties that go together.

    Attributes:
        names: as a user writes them, in order.
        brokers: their ids.
        controllers: voters of the metadata quorum: a node with both roles is in both.
        servers: ZooKeeper servers that vote, as `zookeeper_voters` names them.
        disks: log dirs of brokers that stay, by broker and path.
    """

    names: tuple[str, ...]
    brokers: frozenset[int] = frozenset()
    controllers: frozenset[int] = frozenset()
    servers: frozenset[str] = frozenset()
    disks: frozenset[tuple[int, str]] = frozenset()

    @property
    def name(self) -> str:
        """What it is called in the difference tables."""
        return " ".join(self.names)

    def given(self, view: ClusterView, margin: int) -> Iterator[LostBroker | LostDisk]:
        """Yield what goes as the difference tables take it; nothing for a disk whose replicas the snapshot does not have.

        A controller may be a broker that Metadata does not list, which only the tables show; of others they have no partition.
        """
        for broker in sorted(self.brokers | self.controllers):
            yield LostBroker(loss=self.name, broker_id=broker, margin=margin)
        for broker, path in sorted(self.disks):
            digest = view.log_dirs(broker)[path].replicas_digest
            if digest is not None:
                moves = leaders_leave_disks(view) is not False
                yield LostDisk(loss=self.name, broker_id=broker, replicas_digest=digest, margin=margin, moves=moves)


def parse(text: str) -> tuple[str, str]:
    """Return kind and name of `broker:2`; raises UsageError for what is none."""
    kind, _, name = text.partition(":")
    if kind not in KINDS or not name:
        near = did_you_mean(kind, KINDS) if kind not in KINDS else ""
        known = "broker:2, rack:a, controller:3000, disk:2:/data-1 or zookeeper:1"
        msg = f"{clean(text)!r} is not a loss{near}; write {known}"
        raise UsageError(msg)
    if kind in _NUMBERED and not (name.isdecimal() and len(name) <= _MOST_DIGITS):
        msg = f"{clean(text)!r}: {clean(name)!r} is not the id of a {kind}"
        raise UsageError(msg)
    return kind, name


def combined(losses: Iterable[PartyLoss]) -> PartyLoss:
    """Return all of them as one loss."""
    return reduce(
        lambda one, other: PartyLoss(
            names=(*one.names, *(name for name in other.names if name not in one.names)),
            brokers=one.brokers | other.brokers,
            controllers=one.controllers | other.controllers,
            servers=one.servers | other.servers,
            disks=frozenset(disk for disk in one.disks | other.disks if disk[0] not in one.brokers | other.brokers),
        ),
        losses,
    )


def loss_named(view: ClusterView, text: str) -> PartyLoss:
    """Return what a user's words mean in a cluster; raises UsageError where it has no such party."""
    kind, name = parse(text)
    named = {loss.names[0]: loss for loss in every(view, kind)}
    if kind == BROKER and f"{kind}:{int(name)}" not in named and _may_be_down(view, int(name)):
        return _nodes(view, f"{kind}:{int(name)}", {int(name)})
    if kind == CONTROLLER and view.kraft and int(name) in view.controller_nodes:
        return _nodes(view, f"{kind}:{int(name)}", {int(name)})  # one without a vote is there, too
    wanted = f"{kind}:{int(name)}" if kind in _NUMBERED else text
    if wanted in named:
        return named[wanted]
    if kind == ZOOKEEPER:
        found = [server for server, hosts in zookeeper_voters(view).items() if name in hosts]
        if len(found) == 1:
            return PartyLoss(names=(text,), servers=frozenset(found))
    like = "" if kind in _NUMBERED else did_you_mean(wanted, named)  # another node is no proposal
    near = like or f"; it has {listing(named, 20) or f'no {kind} that was read'}"
    msg = f"the cluster has no {clean(text)}{near}"
    raise UsageError(msg)


def every(view: ClusterView, kind: str) -> Sequence[PartyLoss]:
    """Return each single loss of a kind; of controllers with ZooKeeper the one that there is."""
    if kind == BROKER:
        return [_nodes(view, f"{BROKER}:{broker}", {broker}) for broker in running(view)]
    if kind == RACK:
        racks: dict[str, set[int]] = {}
        for broker, row in view.brokers.items():
            if row.rack is not None:
                racks.setdefault(row.rack, set()).add(broker)
        for voter in voters_alone(view):
            if (rack := view.settings.running(voter, "broker.rack").value) in racks:
                racks[rack].add(voter)
        return [_nodes(view, f"{RACK}:{rack}", brokers) for rack, brokers in sorted(racks.items())]
    if kind == CONTROLLER:
        nodes = view.quorum.now.voters if view.kraft else [] if view.controller is None else [view.controller]
        return [_nodes(view, f"{CONTROLLER}:{node}", {node}) for node in nodes]
    if kind == DISK:
        return [_disk(view, broker, path) for broker in running(view) for path in sorted(view.log_dirs(broker))]
    return [PartyLoss(names=(f"{ZOOKEEPER}:{server}",), servers=frozenset({server})) for server in zookeeper_voters(view)]


def voters_alone(view: ClusterView) -> Sequence[int]:
    """Return the controllers of a KRaft quorum that are no brokers, in order: only their settings show a rack."""
    return sorted(view.controller_nodes.intersection(view.quorum.now.voters)) if view.kraft else []


def running(view: ClusterView) -> Sequence[int]:
    """Return the brokers that run, in order: registered ones, listed or not; where none could be read, those that answer."""
    return sorted(view.brokers.keys() | view.unlisted) or sorted({row.broker_id for row in view.held_views if row.broker_id >= 0})


def zookeeper_voters(view: ClusterView) -> Mapping[str, frozenset[str]]:
    """Return the servers of the ensemble that vote, by id, each with its hosts; by address where only addresses are known."""
    ensemble = [row for row in view.newest(EnsembleServer) if row.votes]
    if ensemble:
        return {str(row.server_id): frozenset({row.host}) for row in sorted(ensemble, key=lambda row: row.server_id)}
    members = [row for row in view.newest(ZookeeperMember) if row.mode != "observer"]
    return {row.member: frozenset({row.member.rpartition(":")[0]}) for row in sorted(members, key=lambda row: row.member)}


def _may_be_down(view: ClusterView, broker: int) -> bool:
    """Return whether a broker that does not run is one of the cluster; before partitions were measured any may be."""
    replicates = broker in view.quorum.now.replicas  # in a role that is not known
    return LossEffect not in view.differences.rows or broker in view.known_brokers or replicates


def _nodes(view: ClusterView, name: str, nodes: set[int]) -> PartyLoss:
    """Return the loss of nodes with the roles that each has."""
    voters = frozenset(view.quorum.now.voters) if view.kraft else frozenset()
    alone = view.controller_nodes if view.kraft else frozenset()
    return PartyLoss(names=(name,), brokers=frozenset(nodes) - alone, controllers=frozenset(nodes) & voters)


def _disk(view: ClusterView, broker: int, path: str) -> PartyLoss:
    """Return the loss of a log dir: Kafka stops without its last one, and in KRaft without the one that has the metadata log."""
    name = f"{DISK}:{broker}:{path}"
    working = [other for other, row in view.log_dirs(broker).items() if not row.error]
    if working == [path] or (view.kraft and metadata_log_dir(view, broker) == path.rstrip("/")):
        return _nodes(view, name, {broker})
    return PartyLoss(names=(name,), disks=frozenset({(broker, path)}))


def leaders_leave_disks(view: ClusterView) -> bool | None:
    """Return whether partitions get another leader if the log dir of theirs fails; None if unknown.

    Where the controller of KRaft does not learn of a failed log dir, the broker leads on and serves nothing.
    """
    return finalized(view, "dead_disk_reported") if view.kraft else True


def metadata_log_dir(view: ClusterView, broker: int) -> str | None:
    """Return where a KRaft node has the metadata log, as DescribeLogDirs writes a path; None where settings do not show it.

    It is the first log dir unless it is set. The folder in which a relative path begins is unknown.
    """
    keys = ("metadata.log.dir", "log.dirs")
    text = next((value for key in keys if (value := view.settings.running(broker, key).value)), "")
    path = next((path for part in text.split(",") if (path := part.strip())), "")
    return sub("/+", "/", path).rstrip("/") if path.startswith("/") else None
