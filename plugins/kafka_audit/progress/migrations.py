"""A migration from ZooKeeper to KRaft: its phase, and the brokers that it waits for.

The KRaft controllers take over once every broker that ZooKeeper has registered, or to which it assigns a partition, has
registered with them (`org.apache.kafka.metadata.migration.KRaftMigrationDriver`, `areZkBrokersReadyForMigration`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.tables import BrokerApi, BrokerConfig, Migration
from kafka_audit.model.text import brokers
from kafka_audit.progress.rule import Observed

PREPARED, DUAL_WRITE, BROKERS_CHANGE, BROKERS_CHANGED = "prepared", "dual write", "brokers change", "brokers changed"
NOT_FINALISED, FINISHED = "not finalised", "finished"

_ENABLE, _QUORUM_API = "zookeeper.metadata.migration.enable", 55


@dataclass(frozen=True, kw_only=True)
class MigrationSides:
    """Brokers by their side of the migration."""

    ready: frozenset[int]  # use ZooKeeper, and may migrate
    left: frozenset[int]  # answered and use ZooKeeper
    without: frozenset[int]

    @staticmethod
    def of(apis: Iterable[BrokerApi], configs: Iterable[BrokerConfig]) -> "MigrationSides":
        """Return the sides, by what brokers offer and how they are set."""
        offered = [(api.broker_id, api.api_key) for api in apis if api.broker_id >= 0]
        asked = frozenset(broker for broker, _ in offered)
        without = frozenset(broker for broker, key in offered if key == _QUORUM_API)
        ready = frozenset(setting.broker_id for setting in configs if (setting.key, setting.value) == (_ENABLE, "true"))
        return MigrationSides(ready=ready - without, left=asked - without, without=without)


class MigrationPhase:
    """The phase that one view shows; only of a view that has a trace of a migration."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the view."""
        self._view = view
        self.row = next(iter(view.newest(Migration)), None)
        self.sides = MigrationSides.of(view.of(BrokerApi), view.of(BrokerConfig))

    @property
    def name(self) -> str:
        """The phase."""
        row, sides, leader = self.row, self.sides, self._view.quorum.now.newest
        if row is None or row.kraft_controller_id is None:
            return PREPARED
        if not sides.without:
            return DUAL_WRITE
        if sides.left:
            return BROKERS_CHANGE
        if leader is None:
            return BROKERS_CHANGED
        later = row.kraft_controller_epoch is not None and (leader.leader_epoch or 0) > row.kraft_controller_epoch
        return FINISHED if later else NOT_FINALISED

    @property
    def missing(self) -> tuple[int, ...]:
        """The brokers that the controllers wait for, as far as it is known."""
        known = {*self._view.brokers, *self._view.partitions.assigned}
        return tuple(sorted(known - self.sides.ready)) if self.name == PREPARED else tuple(sorted(self.sides.left))

    @property
    def waits_for(self) -> str:
        """What it waits for, and why."""
        if self.name == PREPARED and self.missing:
            down = [broker for broker in self.missing if broker not in self._view.brokers]
            unset = [broker for broker in self.missing if broker in self._view.brokers]
            parts = [f"{brokers(down)}, not registered"] if down else []
            parts += [f"{brokers(unset)}, without {_ENABLE}=true"] if unset else []
            return "; ".join(parts)
        if self.name == PREPARED:
            return "the KRaft controllers, with which every broker must register"
        if self.missing:
            return f"a restart of {brokers(self.missing)} without ZooKeeper"
        return "a restart of the KRaft controllers without ZooKeeper" if self.name == NOT_FINALISED else ""


def migrations(view: ClusterView) -> Iterator[Observed]:
    """Yield the row of a migration that has not finished."""
    phase = view.derived(MigrationPhase)
    if phase.row is None or phase.name == FINISHED:
        return
    earlier = next(iter(view.earlier(Migration)), None)
    previous = view.previous
    sides = None if previous is None else MigrationSides.of(previous.of(BrokerApi), previous.of(BrokerConfig))
    total = len({*view.brokers, *view.partitions.assigned, *phase.sides.left, *phase.sides.without})
    done = total - len(phase.missing)
    yield Observed(
        kind="migration",
        parties=("cluster",),
        what=f"migration to KRaft, phase {phase.name} ({done} of {total} brokers {_DONE.get(phase.name, 'changed')})",
        now=_measure(phase.row, phase.sides),
        snapshot=None if earlier is None or sides is None else _measure(earlier, sides),
        was_there=earlier is not None,
        unit="state",
        waits_for=phase.waits_for,
    )


_DONE = {PREPARED: "prepared"}


def _measure(row: Migration, sides: MigrationSides) -> str:
    """Return what changes with each step: who claims the controller, and the sides of brokers."""
    ready, without = (", ".join(map(str, sorted(side))) or "none" for side in (sides.ready, sides.without))
    return f"controller {row.kraft_controller_id or 'none'}, prepared {ready}, without ZooKeeper {without}"
