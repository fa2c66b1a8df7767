"""What would keep the partitions that a loss stops: brokers, topics with too few replicas, and what is not known of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_audit.cluster.held_up_by import held_up_by
from kafka_audit.cluster.processes import Processes
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.text import counted
from kafka_audit.what_if.losses import PartyLoss
from kafka_audit.what_if.topics import Affected
from kafka_audit.what_if.unreached import unreached


@dataclass(frozen=True, kw_only=True)
class NotKnown:
    """Something that was not measured.

    `decides`: the loss may be unsafe for it, so that it cannot be called safe.
    """

    what: str
    needs: str
    decides: bool = True


def still_runs(view: ClusterView, node: int) -> bool:
    """Return whether anything shows that a node runs, registered or not: it answers, or fetches the metadata log."""
    answers = any(row.broker_id == node for row in view.held_views)
    return node in view.brokers or node in view.unlisted or answers or view.derived(Processes).runs(node)


START, REJOIN, WAIT, REACH = "start", "rejoin", "wait", "reach"
MORE_REPLICAS, FEWER_AT_ONCE = "more_replicas", "fewer_at_once"


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to more copies in sync.

    Attributes:
        kind: `start` (these brokers are down, and have replicas), `rejoin` (they run, and are not registered),
            `wait` (followers on these brokers are out of the ISR), `reach` (clients or followers do not reach these brokers),
            `more_replicas` (all replicas are in sync, and too few), or `fewer_at_once` (each of them alone would do).
        brokers: sorted; none for the last two.
        partitions: how many it would help, of those that are listed.
        topic: of the first.
        at_least: whether others are not listed, which it may help, too.
    """

    kind: str
    brokers: tuple[int, ...]
    partitions: int
    topic: str
    at_least: bool = False

    @property
    def number(self) -> str:
        """How many it would help, for a sentence."""
        return f"{'at least ' if self.at_least else ''}{counted(self.partitions, 'partition')}"


def ways(view: ClusterView, loss: PartyLoss, hits: Iterable[Affected]) -> tuple[Way, ...]:
    """Return the ways for partitions that a loss stops, those first that are the quickest."""
    affected = tuple(hits)
    cut = any(one.partitions > sum(len(row.partitions) for row in one.rows) for one in affected)
    found: dict[str, dict[tuple[str, int], frozenset[int]]] = {}
    closed = frozenset(view.derived(unreached)) - loss.brokers
    few = {(row.topic, row.partition) for kind in ("single_replica", "too_few_replicas") for row in view.partitions.of_kind(kind)}
    for row in (row for one in affected for row in one.rows):
        for partition in row.partitions:
            key = row.topic, partition
            waits_for = held_up_by(view, *key)
            gone = waits_for - view.brokers.keys() - view.unlisted
            down = frozenset(broker for broker in gone if not still_runs(view, broker))
            if waits_for:
                found.setdefault(START if down else REJOIN if gone else WAIT, {})[key] = down or gone or waits_for
            elif closed and key not in few:
                found.setdefault(REACH, {})[key] = closed
            else:
                held = view.partitions.state(*key)
                alone = key in few or len(loss.brokers) == 1 or (held is not None and len(held.replicas) == 1)
                found.setdefault(MORE_REPLICAS if alone else FEWER_AT_ONCE, {})[key] = frozenset()
    return tuple(
        Way(
            kind=kind,
            brokers=tuple(sorted(frozenset().union(*found[kind].values()))),
            partitions=len(found[kind]),
            topic=min(found[kind])[0],
            at_least=cut,
        )
        for kind in (START, REJOIN, WAIT, REACH, MORE_REPLICAS, FEWER_AT_ONCE)
        if kind in found
    )
