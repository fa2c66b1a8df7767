"""What can look wrong in a reading, and its sentence. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from kafka_audit.model.text import brokers, clean


class WatchFault(StrEnum):
    """What looks wrong."""

    CLUSTER_UNREACHABLE = "cluster_unreachable"
    NO_ANSWER = "no_answer"
    GONE = "gone"
    NOT_LISTED = "not_listed"
    VIEW_EMPTY = "view_empty"
    VIEW_DIFFERS = "view_differs"
    NO_CONTROLLER = "no_controller"
    CONTROLLER_DIFFERS = "controller_differs"
    CLUSTER_ID_DIFFERS = "cluster_id_differs"
    ZOOKEEPER_UNREACHABLE = "zookeeper_unreachable"
    NO_QUORUM_LEADER = "no_quorum_leader"
    QUORUM_LEADER_DIFFERS = "quorum_leader_differs"
    CUT_FROM_QUORUM = "cut_from_quorum"


_DOWN = frozenset({WatchFault.NO_ANSWER, WatchFault.GONE})
_SENTENCES = {
    WatchFault.CLUSTER_UNREACHABLE: "No bootstrap address answers: {error}",
    WatchFault.NO_ANSWER: "{party} does not answer at {address}: {error}",
    WatchFault.GONE: "{party} is no longer registered and does not answer: {error}",
    WatchFault.NOT_LISTED: "{party} answers, but it is not registered",
    WatchFault.VIEW_EMPTY: "{party} answers, but its own view lists no broker",
    WatchFault.VIEW_DIFFERS: "{party} {difference}",
    WatchFault.NO_CONTROLLER: "The cluster has no controller: /controller does not exist",
    WatchFault.CONTROLLER_DIFFERS: "{party} reports {reported}; the controller is {expected}",
    WatchFault.CLUSTER_ID_DIFFERS: "{party} reports cluster id {reported_id}; the cluster id is {cluster_id}",
    WatchFault.ZOOKEEPER_UNREACHABLE: "ZooKeeper does not answer: {error}",
    WatchFault.NO_QUORUM_LEADER: "The metadata quorum has no leader",
    WatchFault.QUORUM_LEADER_DIFFERS: "{party} reports {leader} of the quorum; the leader is {expected}",
    WatchFault.CUT_FROM_QUORUM: "{party} gets no answer from the quorum's leader: {error}",
}

MOST_NAMED = 20
"""Broker ids that one observation names of those that a view lacks, and of those that are not registered."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Something that looks wrong in one reading.

    Attributes:
        fault: what.
        broker: whose, None where it is the cluster's.
        address: of the party, None where it is the cluster's.
        error: why there is no answer.
        missing: registered brokers that a view lacks, the first `MOST_NAMED`.
        unregistered: brokers that it lists and that are not registered, as many.
        reported: the controller or leader that the party names; -1 for none.
        expected: the one that is right.
        ids: the cluster id that the party reports, and the right one.
    """

    fault: WatchFault
    broker: int | None = None
    address: str | None = None
    error: str | None = None
    missing: tuple[int, ...] = ()
    unregistered: tuple[int, ...] = ()
    reported: int | None = None
    expected: int | None = None
    ids: tuple[str, str] | None = None

    @property
    def key(self) -> str:
        """Name of what stays the same while details change: a broker that is dead may lose its registration meanwhile."""
        kind = "down" if self.fault in _DOWN else self.fault.value
        return f"{kind}:{self.party}"

    @property
    def party(self) -> str:
        """The party that seems at fault: a broker's id or an address; for the cluster as a whole, the fault itself."""
        return str(self.broker) if self.broker is not None else clean(self.address or self.fault.value)

    def sentence(self) -> str:
        """Return the English sentence."""
        party = f"Broker {self.broker}" if self.broker is not None else f"Controller {clean(self.address or '')}"
        reported, right = self.ids or ("", "")
        return _SENTENCES[self.fault].format(
            party=party,
            address=clean(self.address or ""),
            error=clean(self.error or "no answer"),
            difference=_difference(self.missing, self.unregistered),
            reported="no controller" if self.reported in {None, -1} else f"controller {self.reported}",
            leader="no leader" if self.reported in {None, -1} else f"leader {self.reported}",
            expected=self.expected,
            reported_id=clean(reported, 60),
            cluster_id=clean(right, 60),
        )


@dataclass(frozen=True, kw_only=True)
class Suspicion:
    """What has looked wrong for long enough: `since_ms` is the reading in which it first did."""

    observation: Observation
    since_ms: int

    @property
    def what(self) -> WatchFault:
        """What looks wrong."""
        return self.observation.fault

    @property
    def broker(self) -> int | None:
        """Whose it is, None where it is the cluster's."""
        return self.observation.broker

    def sentence(self) -> str:
        """Return the English sentence."""
        return self.observation.sentence()


def _difference(missing: tuple[int, ...], unregistered: tuple[int, ...]) -> str:
    parts = []
    if missing:
        parts.append(f"does not list {_brokers(missing)}")
    if unregistered:
        parts.append(f"lists {_brokers(unregistered)}, not registered")
    return "; it ".join(parts)


def _brokers(ids: tuple[int, ...]) -> str:
    return brokers(ids) if len(ids) < MOST_NAMED else f"{MOST_NAMED} brokers or more"
