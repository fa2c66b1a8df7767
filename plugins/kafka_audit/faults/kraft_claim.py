"""Whether the KRaft controller that holds /controller in ZooKeeper acts.

A KRaft controller that migrates a cluster creates /controller as a persistent znode (`kafka.zk.KafkaZkClient`,
`tryRegisterKRaftControllerAsActiveController`): it stays when its process ends, and no broker becomes the controller.
"""

from functools import cached_property

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import address_text
from kafka_audit.faults.controller_paths import controller_paths, is_closed
from kafka_audit.model.addresses.voters import VOTERS, named_voters
from kafka_audit.model.finding import Confidence
from kafka_audit.model.tables import BrokerView, LogLine, QuorumView
from kafka_audit.model.text import brokers, listing

_ENABLE = "zookeeper.metadata.migration.enable"
_NONE = -1  # what a broker names as the controller that has received nothing since it started
_ASK = "the addresses of all KRaft controllers under `controllers` in the cluster file"


class KraftClaim:
    """What one view shows of the controller that /controller names in a migration; without one it is not asked."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the view; nothing is read yet."""
        self._view = view
        self._paths = view.derived(controller_paths)
        self.node = None if view.migrating is None else view.migrating.kraft_controller_id

    @property
    def acts(self) -> bool | None:
        """Whether it acts; None where that is not known."""
        return True if self.answers else None if self.gap else False

    @cached_property
    def answers(self) -> bool:
        """Whether a KRaft controller answers."""
        return bool(self._view.newest(QuorumView)) or any(path.state == "open" for path in self._paths)

    @cached_property
    def is_known(self) -> bool:
        """Whether anything but ZooKeeper knows it: settings of any node, its own log, a connection to any controller."""
        settings = self._view.settings
        voters = (named_voters(values.get(VOTERS)) for values in settings.of_controllers.values())
        named = self.node in settings.controllers or any(self.node in nodes for nodes in voters)
        return named or self.writes or any(path.connects for path in self._paths)

    @property
    def writes(self) -> bool:
        """Whether its log has lines that count."""
        return any(row.broker_id == self.node for row in self._view.of(LogLine))

    @cached_property
    def _has_sent(self) -> bool:
        """Whether a broker has received something from a controller since it started."""
        return any(row.controller_id != _NONE and row.brokers_listed for row in self._view.newest(BrokerView))

    @cached_property
    def gap(self) -> tuple[str, str] | None:
        """Why it is not known that it does not act, and what the audit needs."""
        if self._has_sent:
            all_refuse = self.refusing and self._view.voter_addresses
            return None if all_refuse else ("brokers have received updates, at any time since they started", _ASK)
        if not self._view.steady:
            return "in motion: seen in one sample", "another audit"
        unread = tuple(broker for broker in self._view.brokers if not self._names_none(broker))
        if unread or not self._view.brokers:
            return "not every broker was read", f"Metadata of {brokers(unread) if unread else 'registered brokers'}"
        return ("no broker has received anything from it", _ASK) if self.is_known and not self.refusing else None

    def _names_none(self, broker: int) -> bool:
        """Return whether a broker answered in both samples, and named no controller."""
        samples = (self._view.newest(BrokerView), self._view.before(BrokerView))
        return [{row.controller_id for row in rows if row.broker_id == broker} for rows in samples] == [{_NONE}, {_NONE}]

    @cached_property
    def refusing(self) -> tuple[str, ...]:
        """The addresses of all KRaft controllers that are known, if each refuses connections in both samples."""
        known = {path.host_port for path in self._paths if path.is_listed} | {*self._view.voter_addresses.values()}
        all_closed = all(is_closed(self._paths, address) for address in known)
        return tuple(sorted(address_text(*address) for address in known)) if all_closed else ()

    @cached_property
    def _none_migrates(self) -> bool:
        """Whether every broker runs without migration enabled: then the controllers have fenced it, and send it nothing."""
        modes = [self._view.settings.running(broker, _ENABLE) for broker in self._view.brokers]
        return bool(modes) and all(mode.known and (mode.value or "").lower() != "true" for mode in modes)

    @property
    def confidence(self) -> Confidence:
        """How sure it is that it does not act: it may be cut off from all brokers."""
        return Confidence.INFERRED if self.refusing or self._none_migrates else Confidence.SUSPECTED

    @property
    def shown_by(self) -> str:
        """What shows that it does not act, for a sentence."""
        refuse = "refuses" if len(self.refusing) == 1 else "refuse"
        shown = {
            "no broker has received anything from it": not self._has_sent,
            f"{listing(self.refusing, 3)} {refuse} connections": self.refusing,
            f"no broker runs with {_ENABLE}": self._none_migrates,
        }
        return listing(text for text, holds in shown.items() if holds)
