"""The answer to one question: what stops without these parties, and is it safe."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.faults.facts import Facts, facts_of
from kafka_audit.faults.identities import AnsweringBroker, answering_brokers
from kafka_audit.faults.solver import diagnosed
from kafka_audit.faults.vote_edges import VoteEdges
from kafka_audit.model.finding import Status
from kafka_audit.model.text import brokers, clean, counted, named_nodes
from kafka_audit.what_if import topics
from kafka_audit.what_if.entries import EntryPoint, lost_entries
from kafka_audit.what_if.losses import CONTROLLER, RACK, PartyLoss, leaders_leave_disks, metadata_log_dir, running, voters_alone
from kafka_audit.what_if.moves import ControllerMove, controller_move
from kafka_audit.what_if.quorums import QuorumLeft, quorum_without
from kafka_audit.what_if.topics import Coordinator, Effects
from kafka_audit.what_if.unreached import unreached
from kafka_audit.what_if.ways import NotKnown, Way, ways

SAFE, NOT_SAFE, NOT_DECIDED = 0, 3, 4
"""Exit codes."""

_ONE_BY_ONE = 3
"""Brokers that do not answer and are named one by one."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What becomes of a cluster without these parties.

    Attributes:
        loss: who goes.
        margin: copies more than needed that are asked for.
        effects: partitions by kind, as `LossCount` names them.
        already: partitions without leader, or that refuse acks=all, before anything goes.
        groups, transactions, share_groups: their coordinators that go.
        none_left: whether brokers go, and no other runs.
        is_down: whether all that go serve nothing now.
        ways: what would keep these partitions.
    """

    loss: PartyLoss
    margin: int
    effects: Effects
    already: Effects
    groups: tuple[Coordinator, ...]
    transactions: tuple[Coordinator, ...]
    share_groups: tuple[Coordinator, ...]
    quorum: QuorumLeft
    controller: ControllerMove
    entry_points: tuple[EntryPoint, ...]
    none_left: bool
    is_down: bool
    not_known: tuple[NotKnown, ...]
    ways: tuple[Way, ...]

    @property
    def safe(self) -> bool | None:
        """Whether nothing stops; None where that is not decided."""
        stops = any(kind in self.effects for kind in topics.UNSAFE) or self.none_left
        stops = stops or (self.quorum.elects is False and bool(self.quorum.lost)) or bool(self.controller.cut)
        if stops or any(entry.closed for entry in self.entry_points):
            return False
        return None if any(question.decides for question in self.not_known) else True

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return {True: SAFE, False: NOT_SAFE, None: NOT_DECIDED}[self.safe]

    def to_plain(self) -> dict[str, Any]:
        """Return it as JSON has it; lists are complete."""
        return {
            "without": [*self.loss.names],
            "safe": self.safe,
            "margin": self.margin + 1,  # as it is asked for: 1 keeps what is needed
            "topics": {kind: _plain(self.effects, kind) for kind in topics.LISTED},
            "already": {kind: _plain(self.already, kind) for kind in (topics.OFFLINE, topics.NOT_WRITABLE)},
            "quorum": {key: value for key, value in asdict(self.quorum).items() if key != "not_known"},
            "groups": [asdict(coordinators) for coordinators in self.groups],
            "transactions": [asdict(coordinators) for coordinators in self.transactions],
            "share_groups": [asdict(coordinators) for coordinators in self.share_groups],
            "entry_points": [asdict(entry) | {"closed": entry.closed} for entry in self.entry_points],
            "controller": {
                "lost": self.controller.lost,
                "candidates": [asdict(candidate) for candidate in self.controller.candidates],
            },
            "not_known": [asdict(question) for question in self.not_known],
            "raises_margin": [asdict(way) for way in self.ways],
        }


def answer(view: ClusterView, loss: PartyLoss, *, margin: int = 0, bootstrap: Sequence[str] = ()) -> Answer:
    """Return what becomes of a cluster without these parties.

    Args:
        view: whose `LossEffect` rows were computed for `loss.given`.
        loss: who goes.
        margin: how many copies more than needed must be left, of partitions that lose one.
        bootstrap: the addresses of the cluster file; none where it is not known.
    """
    every = view.derived(topics.effects)
    found = every.get(loss.name, {})
    quorum, controller = quorum_without(view, loss), controller_move(view, loss)
    left, unread = [broker for broker in running(view) if broker not in loss.brokers], view.gap("brokers")
    return Answer(
        loss=loss,
        margin=margin,
        effects=found,
        already=every.get("", {}),
        groups=topics.coordinators(view, found, topics.GROUPS),
        transactions=topics.coordinators(view, found, topics.TRANSACTIONS),
        share_groups=topics.coordinators(view, found, topics.SHARES),
        quorum=quorum,
        controller=controller,
        entry_points=lost_entries(view, loss, bootstrap),
        none_left=bool(loss.brokers) and not left and (unread is None or unread.status is Status.NOT_APPLICABLE),
        is_down=bool(loss.brokers) and unread is None and not (loss.controllers or loss.disks or loss.brokers & {*running(view)}),
        not_known=tuple(
            dict.fromkeys(
                (
                    *_unread(view, loss, left),
                    *_of_elections(found),
                    *_of_disks(view, loss),
                    *quorum.not_known,
                    *controller.not_known,
                )
            )
        ),
        ways=ways(view, loss, [found[kind] for kind in topics.UNSAFE if kind in found]),
    )


def _plain(found: Effects, kind: str) -> list[dict[str, Any]]:
    return [{"topic": row.topic, "partitions": [*row.partitions]} for row in found.get(kind, topics.NONE).rows]


def _unread(view: ClusterView, loss: PartyLoss, left: Sequence[int]) -> Iterator[NotKnown]:
    """Yield what was not read and decides."""
    holds = bool(loss.brokers or loss.disks)
    for part in ("topics", "brokers"):
        gap = view.gap(part)
        if gap is not None and holds:
            why = gap.error or gap.reason or "not read"
            needs = gap.needs or "a cluster of several brokers"
            yield NotKnown(
                what=f"which partitions {'are on which broker' if part == 'topics' else 'have a broker'}: {why}", needs=needs
            )
    if view.kraft and holds:
        yield from view.derived(_hidden)
    of_all = view.derived(_doubtful)
    doubts = {broker: of_all[broker] for broker in left if holds and broker in of_all}
    for why in dict.fromkeys(doubts.values()):
        doubtful = sorted(broker for broker in doubts if doubts[broker] == why)
        for some in [[broker] for broker in doubtful] if len(doubtful) <= _ONE_BY_ONE else [doubtful]:
            what = f"whether {brokers(some)} work{'s' if len(some) == 1 else ''}: {why}"
            yield NotKnown(what=what, needs=f"an answer of {brokers(some)}")
    yield from view.derived(_without_controller) if holds else ()
    yield from _of_racks(view, loss, left)
    yield from _cut_off(view, [broker for broker in left if holds and broker not in doubts])
    gap_of_min_isr = view.min_isr_gap
    if gap_of_min_isr is not None and any(
        share.in_sync for broker, share in view.partitions.shares.items() if broker in _holders(loss)
    ):
        yield NotKnown(what=f"which partitions refuse acks=all then: {gap_of_min_isr.error}", needs=gap_of_min_isr.needs)


def _doubtful(view: ClusterView) -> Mapping[int, str]:
    """Return running brokers that did not answer themselves, with why that is so: the views under their names are of others."""
    answers: dict[int, list[AnsweringBroker]] = {}
    for (broker, _), found in view.derived(answering_brokers).items():
        answers.setdefault(broker, []).extend(found)
    found_others = {broker: found for broker, found in answers.items() if found and all(one.is_other for one in found)}
    doubts = {
        broker: f"{found_others[broker][0].name} answers at its address" for broker in running(view) if broker in found_others
    }
    silent = (broker for broker in running(view) if f"broker/{broker}" in view.reads.silent_brokers)
    return doubts | dict.fromkeys(silent, "registered, and did not answer")


def _hidden(view: ClusterView) -> Sequence[NotKnown]:
    """Return that there may be topics which the auditor may not describe: KRaft brokers leave them out without an error.

    Log dirs show them: they are listed whole, without regard to rights on topics.
    """
    answering = [broker for broker in view.brokers if f"broker/{broker}" not in view.reads.silent_brokers]
    may_hide = any(view.inter_broker.authorizer(broker).state != "unset" for broker in answering)
    if not view.partitions.count.partitions and view.gap("topics") is None:
        what, needs = "which topics there are: no view lists one", "Describe on Topic, if topics exist"
        return [NotKnown(what=what, needs=needs, decides=may_hide)]
    if may_hide:
        more = {broker: sum(row.replicas for row in view.log_dirs(broker).values()) for broker in running(view)}
        more = {broker: held - view.partitions.held_by(broker) for broker, held in more.items()}
        hidden = sorted(broker for broker, number in more.items() if number > 0)
        what = "topics that the auditor may not describe: brokers leave them out without an error"
        if hidden:
            number = counted(sum(more[broker] for broker in hidden), "replica")
            what = f"which topics have {number} on disks of {brokers(hidden)}: they are in no list, or stray (KA507)"
        return [NotKnown(what=what, needs="Describe on Topic '*'", decides=bool(hidden))]
    return ()


def _without_controller(view: ClusterView) -> Sequence[NotKnown]:
    """Return why no node elects other leaders: without a controller, partitions keep the leader that goes."""
    what = "whether other replicas become leaders"
    if view.kraft:
        voters = view.derived(VoteEdges).voters
        follow = len(voters.following | voters.uncertain)
        if not voters.all and view.quorum.without_leader:
            why, needs = view.quorum.unread()
            return [NotKnown(what=f"{what}: {why}", needs=needs)]
        if follow < voters.majority and voters.all:
            why = f"{follow} of {len(voters.all)} controllers follow the metadata log, and {voters.majority} are needed"
            return [NotKnown(what=f"{what}: {why}", needs="a majority of the controllers")]
    elif view.controller is None:
        gap = view.gap("controller")
        why = "no broker is the controller" if gap is None or gap.error is None else gap.error
        return [NotKnown(what=f"{what}: {why}", needs=(gap and gap.needs) or "an elected controller")]
    return ()


def _of_racks(view: ClusterView, loss: PartyLoss, left: Sequence[int]) -> Iterator[NotKnown]:
    """Yield which brokers may be in a rack that goes: those that report none; and which controllers, unless some are named."""
    kinds = {name.partition(":")[0] for name in loss.names}
    if RACK in kinds:
        alone = [voter for voter in voters_alone(view) if view.settings.running(voter, "broker.rack").value is None]
        if alone and CONTROLLER not in kinds:
            with_them = quorum_without(view, replace(loss, controllers=loss.controllers.union(alone)))
            if with_them.moves or with_them.elects is not True:
                who = named_nodes("controller", alone)
                needs = f"broker.rack of {who}, or those that are there, beside the rack: `--without {CONTROLLER}:{alone[0]}`"
                yield NotKnown(what=f"which rack {who} {'is' if len(alone) == 1 else 'are'} in", needs=needs)
        nowhere = [broker for broker in left if broker not in view.brokers or view.brokers[broker].rack is None]
        if nowhere:
            who = brokers(nowhere)
            yield NotKnown(what=f"which rack {who} {'is' if len(nowhere) == 1 else 'are'} in", needs=f"broker.rack of {who}")


def _cut_off(view: ClusterView, left: Sequence[int]) -> Iterator[NotKnown]:
    """Yield brokers in ISRs that would not lead: they do not know that they are to, or no follower reaches them."""
    cut = view.derived(_without_updates)
    these = [broker for broker in left if broker in cut]
    for some in [[broker] for broker in these] if len(these) <= _ONE_BY_ONE else [these]:
        why = cut[some[0]] if len(some) == 1 else "their views show that they do not receive updates"
        yield NotKnown(what=f"whether {brokers(some)} would lead: {why}", needs=f"an audit after the repair of {brokers(some)}")


def _without_updates(view: ClusterView) -> Mapping[int, str]:
    """Return the running brokers in ISRs that do not receive what their controller decides, each with what shows it.

    With them those that no follower of theirs reaches, unless their paths were measured: then each partition was.
    """
    facts, shares, measured = facts_of(view), view.partitions.shares, view.derived(unreached)
    edges = facts.edges
    in_sync = [broker for broker in running(view) if broker in shares and shares[broker].in_sync]
    effects = {broker: edges.follow(broker).effect if view.kraft else edges.control(broker) for broker in in_sync}
    cut = {
        broker: effect.text
        for broker, effect in effects.items()
        if effect.state == "missing" and not _takes_updates(facts, broker)
    }
    for broker in (broker for broker in in_sync if broker not in {*cut, *measured}):
        edge = edges.into(broker)[-1]
        if edge.effect.state == "missing" and any(edges.lag(broker, one).state == "missing" for one in edge.sources):
            cut[broker] = edge.effect.text
    return cut


def _takes_updates(facts: Facts, broker: int) -> bool:
    """Return whether a broker refused updates, and nothing else is seen to keep the next one from it."""
    measured = diagnosed(facts, facts.edges.into(broker)[0]).measured if facts.let_in_again(broker) else ()
    return bool(measured) and {one.fault.check for one in measured} == {"KA401"}


def _holders(loss: PartyLoss) -> frozenset[int]:
    return loss.brokers | {broker for broker, _ in loss.disks}


def _of_elections(found: Effects) -> Iterator[NotKnown]:
    unclean, eligible = found.get("unclean_unknown", topics.NONE), found.get("eligible_unknown", topics.NONE)
    if unclean.partitions:
        what = (
            f"whether another replica leads {counted(unclean.partitions, 'partition')} without one in sync, and records are lost"
        )
        needs = "unclean.leader.election.enable of the nodes that elect: DescribeConfigs on Cluster, or the files of controllers"
        yield NotKnown(what=what, needs=needs, decides=False)  # without a leader, or with one that lacks records: both are unsafe
    if eligible.partitions:
        what = f"whether an eligible replica (ELR) runs of {counted(eligible.partitions, 'partition')} without one in sync"
        needs = "`kafka-topics.sh --describe`, which prints Elr; such a partition has a leader, and still refuses acks=all"
        yield NotKnown(what=what, needs=needs, decides=False)


def _of_disks(view: ClusterView, loss: PartyLoss) -> Iterator[NotKnown]:
    for broker, path in sorted(loss.disks):
        if view.log_dirs(broker)[path].replicas_digest is None:
            what = f"which replicas are in {clean(path)} of broker {broker}: the snapshot is of an older version"
            yield NotKnown(what=what, needs="a new snapshot")
        if leaders_leave_disks(view) is None:
            since = behaviour("dead_disk_reported").first
            what = f"whether what broker {broker} leads in {clean(path)} gets another leader: from metadata.version {since} on"
            yield NotKnown(what=what, needs="the finalized features: ApiVersions of a broker")
        if view.kraft and metadata_log_dir(view, broker) is None:
            what = f"whether {clean(path)} of broker {broker} has the metadata log, without which it stops"
            yield NotKnown(what=what, needs=f"log.dirs of broker {broker}: DescribeConfigs on Cluster, or its server.properties")
