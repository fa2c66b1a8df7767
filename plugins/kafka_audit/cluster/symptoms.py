"""What shows in views when a broker does not let its controller or its followers in: empty or stale views, an ISR of one.

A symptom lasts where two samples show it and nothing moved in between.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

from kafka_audit.cluster.answers.log_lines import LogLines
from kafka_audit.cluster.disagreements import Disagreement
from kafka_audit.cluster.listeners.probes import ProbeResult
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import ReplicaGap
from kafka_audit.model.tables import BrokerView, Row

_R = TypeVar("_R", bound=Row)

_NETWORK = 2  # rank of the last layer before any byte of Kafka's


class Seen(Protocol):
    """What symptoms are read from: the cluster view."""

    differences: Differences

    @property
    def kraft(self) -> bool: ...  # noqa: D102 -- see `ClusterView`

    @property
    def controller(self) -> int | None: ...  # noqa: D102

    @property
    def logs(self) -> LogLines: ...  # noqa: D102

    def probes_of(self, broker: int, listener: str) -> Sequence[ProbeResult]: ...  # noqa: D102

    def newest(self, table: type[_R]) -> tuple[_R, ...]: ...  # noqa: D102

    def disagreement(self, name: str, matter: str) -> Disagreement | None: ...  # noqa: D102


class Symptoms:
    """What the views of one snapshot show, by broker."""

    def __init__(self, view: Seen) -> None:
        """Keep the view; nothing is read yet."""
        self._view = view

    @cached_property
    def _views(self) -> Mapping[int, list[BrokerView]]:
        found: dict[int, list[BrokerView]] = {}
        for view in self._view.newest(BrokerView):
            found.setdefault(view.broker_id, []).append(view)
        return found

    def lasting(self, broker: int) -> str | None:
        """Return the symptom that a broker showed in both samples, for a sentence."""
        if self._view.kraft:
            return f"no other broker is in the ISR of partitions that broker {broker} leads" if broker in self._alone else None
        if self._view.controller is None:
            return None
        listed = self._view.disagreement(str(broker), "broker")
        if listed is not None and listed.empty and listed.settled:
            return f"broker {broker} lists no broker and no controller"
        leaders = self._view.disagreement(str(broker), "leader")
        if leaders is not None and leaders.settled:
            return f"broker {broker} reports leaders that differ from ZooKeeper"
        return None

    def passing(self, broker: int) -> bool:
        """Return whether the newest sample shows a symptom that the other one does not confirm."""
        shows = self._empty(broker) or (not self._view.kraft and self._stale(broker))
        return shows and self.lasting(broker) is None

    def silent(self, broker: int) -> bool:
        """Return whether a broker gave no view in the newest sample."""
        return broker not in self._views

    def accepted(self, broker: int) -> str | None:
        """Return how it is known that a broker let its controller in: its view is filled and up to date. Not in KRaft."""
        views, controller = self._views.get(broker, ()), self._view.controller
        if not views or controller is None or self._stale(broker):
            return None
        if any(view.brokers_listed == 0 or view.controller_id != controller for view in views):
            return None
        return f"broker {broker} has accepted the updates of controller {controller}: its view is not empty"

    def probed(self, broker: int, listener: str) -> str | None:
        """Return how the controller's host (in KRaft another broker's) reaches a listener: open, closed or None.

        Where no probe shows it, the controller's own log does.
        """
        controller, kraft = self._view.controller, self._view.kraft
        probes = [
            probe
            for probe in self._view.probes_of(broker, listener)
            if probe.role == "broker" and (probe.from_broker == controller or (kraft and probe.from_broker != broker))
        ]
        if any(probe.failed is not None and probe.failed.rank <= _NETWORK for probe in probes):
            return "closed"
        if any(probe.reached >= _NETWORK for probe in probes):
            return "open"
        lines = self._view.logs.counting("KA302", broker, listener)
        return "closed" if any(kraft or line.broker_id == controller for line in lines) else None

    def _empty(self, broker: int) -> bool:
        return any(view.brokers_listed == 0 for view in self._views.get(broker, ()))

    def _stale(self, broker: int) -> bool:
        """Return whether a broker names leaders of an older epoch than ZooKeeper holds."""
        leaders = self._view.disagreement(str(broker), "leader")
        return leaders is not None and leaders.kind == "leader"

    @cached_property
    def _alone(self) -> frozenset[int]:
        """KRaft: leaders that no follower is in sync with, in two samples, though a follower of theirs is with others."""
        found: dict[int, list[ReplicaGap]] = {}
        for row in self._view.differences.of(ReplicaGap):
            found.setdefault(row.leader, []).append(row)
        return frozenset(
            leader
            for leader, rows in found.items()
            if all(row.leader_alone and row.repeated for row in rows) and any(row.follows_others for row in rows)
        )
