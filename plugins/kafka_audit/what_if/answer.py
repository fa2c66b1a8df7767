"""The answer to one question: what stops without these parties, and is it safe."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.text import brokers, clean, counted, named_nodes
from kafka_audit.what_if import topics
from kafka_audit.what_if.entries import EntryPoint, lost_entries
from kafka_audit.what_if.losses import PartyLoss, running
from kafka_audit.what_if.moves import ControllerMove, controller_move
from kafka_audit.what_if.quorums import QuorumLeft, quorum_without
from kafka_audit.what_if.topics import Coordinator, Effects
from kafka_audit.what_if.unknown import NotKnown
from kafka_audit.what_if.ways import Way, ways

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
        groups, transactions: their coordinators that go.
        brokers_left: how many brokers run then.
        ways: what would keep these partitions.
    """

    loss: PartyLoss
    margin: int
    effects: Effects
    already: Effects
    groups: tuple[Coordinator, ...]
    transactions: tuple[Coordinator, ...]
    quorum: QuorumLeft
    controller: ControllerMove
    entry_points: tuple[EntryPoint, ...]
    brokers_left: int
    not_known: tuple[NotKnown, ...]
    ways: tuple[Way, ...]

    @property
    def safe(self) -> bool | None:
        """Whether nothing stops; None where that is not decided."""
        stops = any(kind in self.effects for kind in topics.UNSAFE) or not self.brokers_left
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
    left = [broker for broker in running(view) if broker not in loss.brokers]
    hit = [row for kind in topics.UNSAFE for row in found.get(kind, topics.NONE).rows]
    return Answer(
        loss=loss,
        margin=margin,
        effects=found,
        already=every.get("", {}),
        groups=topics.coordinators(view, found, topics.GROUPS),
        transactions=topics.coordinators(view, found, topics.TRANSACTIONS),
        quorum=quorum,
        controller=controller,
        entry_points=lost_entries(view, loss, bootstrap),
        brokers_left=len(left),
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
        ways=ways(view, loss, hit),
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
    if view.kraft and holds and not view.partitions.count.partitions and view.gap("topics") is None:
        yield NotKnown(
            what="which topics there are: no view lists one", needs="Describe on Topic, if topics exist", decides=False
        )
    if view.kraft and holds and any(view.inter_broker.authorizer(broker).value for broker in running(view)):
        what = "topics that the auditor may not describe: brokers leave them out without an error"
        yield NotKnown(what=what, needs="Describe on Topic '*'", decides=False)
    silent = sorted(broker for broker in left if f"broker/{broker}" in view.reads.silent_brokers)
    if silent and holds:
        for some in [[broker] for broker in silent] if len(silent) <= _ONE_BY_ONE else [silent]:
            what = f"whether {brokers(some)} work{'s' if len(some) == 1 else ''}: registered, and did not answer"
            yield NotKnown(what=what, needs=f"an answer of {brokers(some)}")
    gap_of_min_isr = view.min_isr_gap
    if gap_of_min_isr is not None and any(
        share.in_sync for broker, share in view.partitions.shares.items() if broker in _holders(loss)
    ):
        yield NotKnown(what=f"which partitions refuse acks=all then: {gap_of_min_isr.error}", needs=gap_of_min_isr.needs)
    unlisted = sorted(broker for broker in _holders(loss) if broker not in view.brokers)
    if unlisted:
        what = f"{named_nodes('broker', unlisted)} {'does' if len(unlisted) == 1 else 'do'} not run now"
        yield NotKnown(what=what, needs="nothing: it is lost already", decides=False)


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
