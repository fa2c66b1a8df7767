"""Faults of the metadata quorum, and of ZooKeeper's servers, that two samples must show. Pure."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from kafka_audit.clients.read_error import clean_line
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.quorum import NOTICES, late
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerFeature,
    ControllerProbe,
    ControllerProbeFromBroker,
    FencedBroker,
    QuorumReplica,
    QuorumView,
    Row,
    ViewBroker,
    VoterProbe,
    ZookeeperMember,
    ZookeeperNode,
    ZookeeperProbe,
)
from kafka_audit.model.text import brokers, listing

_STATES = ("idle", "down")


def find_ensemble_differences(
    members: Iterable[ZookeeperMember], nodes: Iterable[ZookeeperNode], reasons: list[str]
) -> set[tuple[Hashable, ...]]:
    """Return the servers that do not serve and the znodes with many notifications, and add the reason as text."""
    away = [member for member in members if member.state in _STATES]
    if away:
        names = ", ".join(clean_line(member.member, 60) for member in away[:3])
        more = f" and {len(away) - 3} more" if len(away) > 3 else ""  # noqa: PLR2004 -- the same three
        reasons.append(f"ZooKeeper at {names}{more} does not serve")
    full = {znode.path: znode.children for znode in nodes if znode.children >= NOTICES.get(znode.path, znode.children + 1)}
    reasons.extend(f"{children} notifications wait in {path}" for path, children in full.items())
    return {("ZooKeeper's server", member.member, member.state) for member in away} | {("notices", path) for path in full}


def find_unreached_servers(probes: Iterable[ZookeeperProbe], reasons: list[str]) -> set[tuple[Hashable, ...]]:
    """Return the servers that hosts of brokers do not reach, and add the reason as text."""
    failed = [probe for probe in probes if probe.outcome == "failed"]
    reasons.extend(
        f"{probe.layer} from broker {probe.from_broker} to ZooKeeper at {clean_line(probe.address, 60)} failed ({probe.error})"
        for probe in failed
    )
    return {("from broker to ZooKeeper", probe.vantage, probe.from_broker, probe.address, probe.layer) for probe in failed}


_FAR_BEHIND = 20
"""Records: controllers write one every half second to a log at rest."""

_T = TypeVar("_T", bound=Row)


class RowsByTable(Protocol):
    """Rows by table."""

    def of(self, table: type[_T]) -> Iterable[_T]:
        """Return the rows of one table."""
        ...


def find_quorum_differences(tables: RowsByTable, reasons: list[str]) -> set[tuple[Hashable, ...]]:
    """Return what a quorum at rest does not show: no single leader, late replicas, fenced or silent nodes, missing votes."""
    views = tuple(tables.of(QuorumView))
    found: set[tuple[Hashable, ...]] = set()
    leaders = {view.leader_id for view in views}
    if views and (len(leaders) > 1 or min(leaders) < 0):
        found |= {("quorum leader", view.observer, view.leader_id) for view in views}
        reasons.append("the metadata quorum has no leader, or observers report several")
    replicas: defaultdict[str, list[QuorumReplica]] = defaultdict(list)
    for row in tables.of(QuorumReplica):
        replicas[row.observer].append(row)
    found |= _behind(tables, replicas, reasons)
    fenced = {row.fenced_id for row in tables.of(FencedBroker)}
    if fenced:
        found |= {("fenced", number) for number in fenced}
        reasons.append(f"{brokers(fenced, 3)} fenced by the controllers")
    without_vote = _without_vote(tables, replicas.values())
    if without_vote:
        found |= {("controller without vote", node, directory) for node, directory in without_vote}
        names = listing((f"node {node}" for node in sorted({node for node, _ in without_vote})), 3)
        reasons.append(f"{names} follow the metadata log as controllers without a vote")
    for key, reason in _failed_probes(tables):
        found.add(key)
        reasons.append(reason)
    return found


def _failed_probes(tables: RowsByTable) -> Iterator[tuple[tuple[Hashable, ...], str]]:
    """Yield the probes of controllers that failed, each with a sentence."""
    for probe in tables.of(ControllerProbe):
        if probe.outcome == "failed":
            reason = f"{probe.layer} to the controller at {clean_line(probe.address, 80)} failed ({probe.error})"
            yield ("controller", probe.address, probe.layer), reason
    for path in tables.of(ControllerProbeFromBroker):
        if path.outcome == "failed":
            place = f"from broker {path.from_broker} to the controller at {clean_line(path.address, 80)}"
            key = ("controller", path.vantage, path.from_broker, path.address, path.layer)
            yield key, f"{path.layer} {place} failed ({path.error})"
    listed = any(probe.outcome == "ok" for probe in tables.of(ControllerProbe))
    for voter in _unreached(tables.of(VoterProbe), {(WORKER, None)} if listed else set()):
        place = "this worker" if voter.from_controller is None else f"controller {voter.from_controller}"
        place_key = ("voter", voter.vantage, voter.from_controller, voter.voter_id, voter.layer)
        yield place_key, f"{voter.layer} from {place} to voter {voter.voter_id} failed ({voter.error})"


def _unreached(probes: Iterable[VoterProbe], reaching: Collection[tuple[str, int | None]]) -> Iterator[VoterProbe]:
    """Yield the probes without a connection of those that connect to another controller: a worker need not reach any."""
    rows = [*probes]
    connects = {row: row.outcome == "ok" or row.layer not in {"dns", "tcp"} for row in rows}
    reaching = {*reaching, *((row.vantage, row.from_controller) for row in rows if connects[row])}
    for row in rows:
        if row.outcome == "failed" and not connects[row] and (row.vantage, row.from_controller) in reaching:
            yield row


def _behind(
    tables: RowsByTable, replicas: Mapping[str, Iterable[QuorumReplica]], reasons: list[str]
) -> set[tuple[Hashable, ...]]:
    """Return the nodes that do not follow the metadata log, and the brokers that do not apply it."""
    behind = {number for rows in replicas.values() for number in late(rows)}
    if behind:
        reasons.append(f"{listing((f'node {number}' for number in sorted(behind)), 3)} lag behind the metadata log")
    unapplied = _unapplied(tables, replicas)
    if unapplied:
        reasons.append(f"the metadata log is not applied by {brokers(unapplied, 3)}")
    return {("quorum replica", number) for number in behind} | {("not applied", number) for number in unapplied}


def _unapplied(tables: RowsByTable, replicas: Mapping[str, Iterable[QuorumReplica]]) -> set[int]:
    """Return the brokers that have fetched far more of the metadata log than they have applied, as one sample shows it."""
    applied = {row.broker_id: row.finalized_epoch for row in tables.of(BrokerFeature) if row.finalized_epoch is not None}
    ends = {row.replica_id: row.log_end_offset for rows in replicas.values() for row in rows}
    return {broker for broker, offset in applied.items() if offset + _FAR_BEHIND < (ends.get(broker) or 0)}


def _without_vote(tables: RowsByTable, answers: Iterable[Iterable[QuorumReplica]]) -> set[tuple[int, str | None]]:
    """Return node and directory of observers of a dynamic quorum that may be controllers: a new one is added a moment later."""
    brokers = {row.broker_id for row in tables.of(ViewBroker)} | {row.fenced_id for row in tables.of(FencedBroker)}
    roles = (row for row in tables.of(BrokerConfig) if row.key == "process.roles")
    brokers -= {row.broker_id for row in roles if "controller" in (row.value or "")}
    found = set()
    for rows in answers:
        voters = {row.replica_id: row.directory_id for row in rows if row.voter}
        if any(voters.values()):
            observers = {(row.replica_id, row.directory_id) for row in rows if not row.voter}
            found |= {
                replica for replica in observers if voters.get(replica[0], replica[1]) != replica[1] or replica[0] not in brokers
            }
    return found
