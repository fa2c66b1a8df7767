"""What can look wrong in a reading, and its sentence; whose views count where no ZooKeeper decides. Pure."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from kafka_audit.compare.addresses import canonical_text
from kafka_audit.model.text import brokers, clean, listing
from kafka_audit.watch.reading import BrokerReading, Reading

HALF = 0.5


def electorate(reading: Reading) -> tuple[BrokerReading, ...]:
    """Return the brokers that list any and whose views count where no ZooKeeper decides.

    A party can list any number of ids at addresses of its own, which then list each other. So these are the brokers that are
    vouched for, and those that more than half of them list; all that answer where none of them does. One address has one view.
    """
    views = list({canonical_text(broker.address): broker for broker in reversed(reading.brokers) if broker.lists}.values())[::-1]
    brokers = [broker for broker in views if broker.broker_id is not None]
    vouched = [broker for broker in brokers if broker.vouched] or [broker for broker in views if broker.vouched]
    if not vouched:
        return tuple(brokers or views)
    listed = shares(vouched)
    return tuple(broker for broker in brokers if broker.vouched or listed.get(broker.broker_id or 0, 0) > HALF) or tuple(vouched)


def shares(views: Collection[BrokerReading]) -> dict[int, float]:
    """Return by how many of these views each broker is listed, as a share of 1."""
    listed: Counter[int] = Counter()
    for ids, times in Counter(broker.lists or frozenset() for broker in views).items():  # views of honest brokers are equal
        for broker in ids:
            listed[broker] += times
    return {broker: times / len(views) for broker, times in listed.items()}


class WatchFault(StrEnum):
    """What looks wrong."""

    CLUSTER_UNREACHABLE = "cluster_unreachable"
    NO_ANSWER = "no_answer"
    GONE = "gone"
    PROCESS_DOWN = "process_down"
    ADDRESS_SILENT = "address_silent"
    BROKERS_MISSING = "brokers_missing"
    COMES_AND_GOES = "comes_and_goes"
    NOT_LISTED = "not_listed"
    VIEW_EMPTY = "view_empty"
    VIEW_DIFFERS = "view_differs"
    NO_CONTROLLER = "no_controller"
    CONTROLLER_DIFFERS = "controller_differs"
    CLUSTER_ID_DIFFERS = "cluster_id_differs"
    ZOOKEEPER_UNREACHABLE = "zookeeper_unreachable"
    NO_QUORUM_LEADER = "no_quorum_leader"
    QUORUM_LEADER_DIFFERS = "quorum_leader_differs"
    QUORUM_LEADERS_DIFFER = "quorum_leaders_differ"
    QUORUM_ELECTS = "quorum_elects"
    VOTERS_LAG = "voters_lag"
    CUT_FROM_QUORUM = "cut_from_quorum"
    BROKER_LAGS = "broker_lags"
    NOT_APPLIED = "not_applied"


_DOWN = frozenset({WatchFault.NO_ANSWER, WatchFault.GONE, WatchFault.PROCESS_DOWN})
_RESTARTS = frozenset({WatchFault.GONE, WatchFault.VOTERS_LAG, WatchFault.ADDRESS_SILENT, WatchFault.BROKERS_MISSING})
_SENTENCES = {
    WatchFault.CLUSTER_UNREACHABLE: "No bootstrap address answers: {error}",
    WatchFault.NO_ANSWER: "{party} does not answer at {address}: {error}",
    WatchFault.GONE: "{party} is no longer registered and does not answer: {error}",
    WatchFault.PROCESS_DOWN: "{error}, by its own log",
    WatchFault.ADDRESS_SILENT: "No broker answers at {address}, an address in the cluster file: {error}",
    WatchFault.BROKERS_MISSING: "The cluster file expects {expected} brokers, and the watch finds {number}",
    WatchFault.COMES_AND_GOES: "{party} comes and goes: it came back three times within 15 minutes",
    WatchFault.NOT_LISTED: "{party} answers, but it is not registered",
    WatchFault.VIEW_EMPTY: "{party} answers, but its own view lists no broker",
    WatchFault.VIEW_DIFFERS: "{party} {difference}",
    WatchFault.NO_CONTROLLER: "The cluster has no controller: /controller does not exist",
    WatchFault.CONTROLLER_DIFFERS: "{party} reports {reported}; the controller is {expected}",
    WatchFault.CLUSTER_ID_DIFFERS: "{party} reports cluster id {reported_id}; the cluster id is {cluster_id}",
    WatchFault.ZOOKEEPER_UNREACHABLE: "ZooKeeper does not answer: {error}",
    WatchFault.NO_QUORUM_LEADER: "The metadata quorum has no leader",
    WatchFault.QUORUM_LEADER_DIFFERS: "{party} reports {leader} of the quorum; the leader is {expected}",
    WatchFault.QUORUM_LEADERS_DIFFER: "Brokers and controllers report different leaders of the metadata quorum",
    WatchFault.QUORUM_ELECTS: "The metadata quorum elects a leader again and again",
    WatchFault.VOTERS_LAG: "{voters} of the metadata quorum {follow} leader {expected}",
    WatchFault.CUT_FROM_QUORUM: "{party} gets no answer from the quorum's leader: {error}",
    WatchFault.BROKER_LAGS: "{party} answers, but it no longer follows the metadata log of leader {expected}",
    WatchFault.NOT_APPLIED: "{party} answers, but it applies no metadata after offset {number}",
}

MOST_NAMED = 20
"""Ids that one observation names of each kind."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Something that looks wrong in one reading.

    Attributes:
        fault: what.
        broker: whose, None where it is the cluster's.
        address: of the party, None where it is the cluster's.
        error: why there is no answer; of a process that is down, what its log says became of it.
        missing: registered brokers that a view lacks, or voters that do not follow, the first `MOST_NAMED`.
        elsewhere: brokers that a view lists at another address than they registered, as many.
        reported: the controller or leader that the party names, -1 for none; or the offset that it has applied; or how many
            brokers there are.
        expected: the one that is right.
        ids: the cluster id that the party reports, and the right one.
    """

    fault: WatchFault
    broker: int | None = None
    address: str | None = None
    error: str | None = None
    missing: tuple[int, ...] = ()
    elsewhere: tuple[int, ...] = ()
    reported: int | None = None
    expected: int | None = None
    ids: tuple[str, str] | None = None

    @property
    def key(self) -> str:
        """Name of what stays the same while details change: a broker that is dead may lose its registration meanwhile."""
        kind = "down" if self.fault in _DOWN else self.fault.value
        return f"{kind}:{self.party}"

    @property
    def may_be_restart(self) -> bool:
        """Whether a restart looks like this for as long as it takes."""
        is_controller = self.fault is WatchFault.NO_ANSWER and self.broker is None
        return is_controller or self.fault in _RESTARTS

    def continues(self, earlier: "Observation") -> bool:
        """Return whether it may be the fault of an earlier observation of the same key.

        Views that lack one broker after the other are a restart, and so are voters that lag in turn.
        """
        if self.missing or self.elsewhere:
            return bool({*self.missing} & {*earlier.missing} or {*self.elsewhere} & {*earlier.elsewhere})
        return (self.reported, self.expected) == (earlier.reported, earlier.expected)

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
            difference=_difference(self.missing, self.elsewhere),
            voters=f"Voter{'s' if len(self.missing) > 1 else ''} {listing(self.missing)}",
            follow="does not follow" if len(self.missing) == 1 else "do not follow",
            number=self.reported,
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


def _difference(missing: tuple[int, ...], elsewhere: tuple[int, ...]) -> str:
    parts = []
    if missing:
        parts.append(f"does not list {_brokers(missing)}")
    if elsewhere:
        parts.append(f"lists {_brokers(elsewhere)} at another address than registered")
    return "; it ".join(parts)


def _brokers(ids: tuple[int, ...]) -> str:
    return brokers(ids) if len(ids) < MOST_NAMED else f"{MOST_NAMED} brokers or more"
