"""What shows in views when a broker does not let its controller or its followers in: empty or stale views, an ISR of one.

`engine/prepared/suspicion` says the same in SQL (`view_symptom`) and rules for KA302; here is what row checks (KA401, KA403,
KA412) may ask without Spark. Both hold on to rule 2: two looks, and nothing moved in between.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from kafka_audit.checks.inter_broker import InterBroker
from kafka_audit.checks.log_lines import LogLines
from kafka_audit.checks.rows import looks, moved
from kafka_audit.model.tables import BrokerView, Probe, RegisteredPartition, Registry, ViewBroker, ViewPartition, ViewTopic

_Led = frozenset[tuple[str, int, int, int | None]]  # topic, partition, leader that a view names, mzxid of the state

_Partitions = Mapping[int, list[ViewPartition]]


class Symptoms:
    """What the views of one snapshot show, by broker."""

    def __init__(self, between: InterBroker) -> None:
        """Keep the snapshot of `between`; nothing is read yet."""
        self._between = between
        self.logs = LogLines(between)
        self._snapshot = between.snapshot
        self._now, self._before = looks(self._snapshot)

    def _views(self, look: int | None, broker: int) -> tuple[BrokerView, ...]:
        return tuple(v for v in self._snapshot.of(BrokerView) if v.sample == look and v.broker_id == broker)

    def _empty(self, look: int | None, broker: int) -> bool:
        return any(view.brokers_listed == 0 for view in self._views(look, broker))

    @cached_property
    def _steady(self) -> bool:
        """Tell whether one controller stood in both looks."""
        rows = {row.controller_mzxid for row in self._snapshot.of(Registry) if row.sample in {self._now, self._before}}
        return self._before is not None and len(rows) == 1

    def lasting(self, broker: int) -> str | None:
        """Return the symptom that a broker showed in both looks, for a sentence."""
        if self._between.kraft:
            return self._alone(broker)
        if self._between.controller is None or not self._steady or broker in moved(self._snapshot):
            return None
        if self._empty(self._now, broker) and self._empty(self._before, broker):
            return f"broker {broker} lists no broker and no controller"
        if self._stale(self._now, broker) & self._stale(self._before, broker):
            return f"broker {broker} names leaders that ZooKeeper does not hold"
        return None

    def passing(self, broker: int) -> bool:
        """Tell whether the newest look shows a symptom that the other one does not confirm."""
        shows = self._empty(self._now, broker) or bool(not self._between.kraft and self._stale(self._now, broker))
        return shows and self.lasting(broker) is None

    def silent(self, broker: int) -> bool:
        """Tell whether a broker gave no view in the newest look."""
        return not self._views(self._now, broker)

    def accepted(self, broker: int) -> str | None:
        """Return how it is known that a broker let its controller in: its view is filled and up to date. Not in KRaft."""
        views, controller = self._views(self._now, broker), self._between.controller
        if not views or controller is None or self._stale(self._now, broker):
            return None
        if any(view.brokers_listed == 0 or view.controller_id != controller for view in views):
            return None
        return f"broker {broker} has accepted what controller {controller} sends: its view is filled"

    @cached_property
    def _contradictions(self) -> Mapping[tuple[int, str], _Led]:
        """Leaders that a view names and ZooKeeper does not hold, by look and topics_digest; distinct views only."""
        held: dict[int, dict[tuple[str, int], RegisteredPartition]] = {}
        for row in self._snapshot.of(RegisteredPartition):
            held.setdefault(row.sample, {})[row.topic, row.partition] = row
        wanted = {(view.sample, view.topics_digest) for view in self._snapshot.of(BrokerView)}
        topics: dict[str, list[str]] = {}
        for topic in self._snapshot.of(ViewTopic):
            topics.setdefault(topic.topics_digest, []).append(topic.topic_digest)
        return {
            (look, digest): frozenset(
                (row.topic, row.partition, row.leader, state.state_mzxid)
                for one in topics.get(digest, ())
                for row in self._partitions.get(one, ())
                if (state := held.get(look, {}).get((row.topic, row.partition))) is not None and _older(row, state)
            )
            for look, digest in wanted
        }

    @cached_property
    def _partitions(self) -> Mapping[str, list[ViewPartition]]:
        found: dict[str, list[ViewPartition]] = {}
        for row in self._snapshot.of(ViewPartition):
            found.setdefault(row.topic_digest, []).append(row)
        return found

    def _stale(self, look: int | None, broker: int) -> _Led:
        found: frozenset[tuple[str, int, int, int | None]] = frozenset()
        for view in self._views(look, broker):
            found |= self._contradictions.get((view.sample, view.topics_digest), frozenset())
        return found

    def _alone(self, broker: int) -> str | None:
        """KRaft: no living follower is in the ISR of anything that a broker leads, though they follow others."""
        if self._before is None or not self._left_alone(self._now, broker):
            return None
        if self._left_alone(self._now, broker) != self._left_alone(self._before, broker):
            return None  # leaders moved in between
        return f"no other broker is in the ISR of what broker {broker} leads"

    def _left_alone(self, look: int | None, broker: int) -> frozenset[tuple[str, int, int | None]]:
        """Return topic, partition and leader epoch of what a broker leads alone; nothing where that is not all of it."""
        alive, led, follows = self._replication.get(look, (frozenset(), {}, {}))
        own = [row for row in led.get(broker, ()) if len(row.replicas) > 1]
        followers = {one for row in own for one in row.replicas if one != broker} & alive
        at_work = {one for one in followers if follows.get(one, set()) - {broker, -1}}
        if not at_work or any(followers & set(row.isr) for row in own):
            return frozenset()
        return frozenset((row.topic, row.partition, row.leader_epoch) for row in own)

    @cached_property
    def _replication(self) -> Mapping[int | None, tuple[frozenset[int], _Partitions, Mapping[int, set[int]]]]:
        """By look: brokers that a view lists, partitions by leader, and the leaders in whose ISR each broker is."""
        found: dict[int | None, tuple[frozenset[int], _Partitions, Mapping[int, set[int]]]] = {}
        for look in (self._now, self._before):
            views = [view for view in self._snapshot.of(BrokerView) if view.sample == look and view.brokers_listed > 0]
            listed, digests = {view.brokers_digest for view in views}, {view.topics_digest for view in views}
            topics = {t.topic_digest for t in self._snapshot.of(ViewTopic) if t.topics_digest in digests}
            led: dict[int, list[ViewPartition]] = {}
            follows: dict[int, set[int]] = {}
            for row in (row for topic in topics for row in self._partitions.get(topic, ())):
                led.setdefault(row.leader, []).append(row)
                for one in row.isr:
                    follows.setdefault(one, set()).add(row.leader)
            alive = frozenset(row.broker_id for row in self._snapshot.of(ViewBroker) if row.brokers_digest in listed)
            found[look] = (alive, led, follows)
        return found

    def path(self, broker: int, listener: str) -> str | None:
        """Return how the way from the controller's host (KRaft: from another broker's) was measured: open, closed or None.

        Where no probe told, the controller's own log does.
        """
        ends = {
            _end(rows)
            for source, rows in self._probes(broker, listener)
            if source != broker or source == self._between.controller
            if self._between.kraft or source == self._between.controller
        }
        if not ends & {"closed", "open"} and any(
            self._between.kraft or row.broker_id == self._between.controller
            for row in self.logs.counting("KA302", broker, listener)
        ):
            return "closed"
        return "closed" if "closed" in ends else "open" if "open" in ends else None

    def _probes(self, broker: int, listener: str) -> Iterator[tuple[int | None, list[Probe]]]:
        found: dict[tuple[int | None, str], list[Probe]] = {}
        for row in self._snapshot.of(Probe):
            if (row.role, row.broker_id, row.listener, row.sample) == ("broker", broker, listener, self._now):
                found.setdefault((row.from_broker, row.vantage), []).append(row)
        for (source, _), rows in found.items():
            yield source, rows


def _older(row: ViewPartition, state: RegisteredPartition) -> bool:
    epochs = row.leader_epoch is None or state.leader_epoch is None or row.leader_epoch < state.leader_epoch
    return state.leader is not None and row.leader != state.leader and row.error == 0 and epochs


def _end(rows: list[Probe]) -> str | None:
    if any(row.outcome == "failed" and row.layer in {"dns", "tcp"} for row in rows):
        return "closed"
    return "open" if any(row.outcome == "ok" and row.layer == "tcp" for row in rows) else None
