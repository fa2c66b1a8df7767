"""Which brokers each party lists otherwise than they are registered: the views of a matrix, broker by broker."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.broker_lists import ListDifference
from kafka_audit.faults.facts import facts_of
from kafka_audit.model.finding import Status

NO_VIEW, DISPUTED = "gave no view", "broker_disputed"
OTHERWISE: Mapping[str, str] = MappingProxyType(
    {
        "empty_view": ListDifference.NOTHING.value,
        "broker_missing": ListDifference.MISSING.value,
        "endpoint": ListDifference.ELSEWHERE.value,
        "unregistered": ListDifference.UNREGISTERED.value,
        DISPUTED: "views differ, and it is unknown which one is newer",
    }
)
"""How a party may list a broker otherwise, for a sentence: the kinds of `Claim` that are about one broker, the worst first."""


@dataclass(frozen=True, kw_only=True)
class ListedBrokers:
    """What one party lists, in the newest sample.

    Attributes:
        observer: the id of a broker, or `zookeeper`.
        otherwise: a key of `OTHERWISE` for each broker that it lists otherwise; of several of its views the worst.
        unknown: why nothing says how it lists the others; None where it lists them as they are registered.
    """

    observer: int | str
    otherwise: Mapping[int, str]
    unknown: str | None = None


def listed_brokers(view: ClusterView) -> Iterator[ListedBrokers]:
    """Yield what ZooKeeper and each broker that anything names list of these brokers."""
    if not view.kraft:
        yield _by_zookeeper(view)
    gap = view.gap("brokers")
    unread = gap.error if gap is not None and gap.status is Status.UNKNOWN else None
    unsure = set() if gap is None else {"unregistered"} if not gap.whole else {*OTHERWISE}
    names = {broker: _name(view, broker) for broker in view.named_brokers}
    observers = {observer.name: observer for observer in view.observers}
    unlisted = {broker for broker, name in names.items() if any(claim.kind == "unlisted" for claim in view.claims_of(name))}
    digests: dict[str, set[str]] = {}
    for held in view.held_views if unlisted else ():
        digests.setdefault(held.name, set()).add(held.row.brokers_digest)
    for broker, name in names.items():
        otherwise: dict[int, str] = {}
        for claim in view.claims_of(name):
            if claim.kind in OTHERWISE and claim.kind not in unsure and claim.subject is not None:
                earlier = otherwise.get(claim.subject, claim.kind)
                otherwise[claim.subject] = min(claim.kind, earlier, key=[*OTHERWISE].index)
        # That the newest views do not list a broker is claimed by its own view alone.
        listed = {row.broker_id for digest in digests.get(name, ()) for row in view.listed.get(digest, ())}
        otherwise |= dict.fromkeys(unlisted - listed if listed else (), "broker_missing")
        observer = observers.get(name)
        unknown = unread
        if observer is None or observer.error is not None:
            unknown = (observer.error if observer is not None and observer.foreign else None) or NO_VIEW
        yield ListedBrokers(observer=broker, otherwise=otherwise, unknown=unknown)


def _by_zookeeper(view: ClusterView) -> ListedBrokers:
    missing = [broker for broker in view.named_brokers if broker not in view.in_zookeeper]
    if not view.in_zookeeper and not view.zookeeper_read:
        return ListedBrokers(observer="zookeeper", otherwise={}, unknown=NO_VIEW)
    kind = "broker_missing" if view.in_zookeeper else "empty_view"
    return ListedBrokers(observer="zookeeper", otherwise=dict.fromkeys(missing, kind))


def _name(view: ClusterView, broker: int) -> str:
    """Return the name of a broker as an observer: its id, or the address at which it answers and is not registered."""
    unregistered = not view.kraft and broker not in view.brokers
    return (unregistered and facts_of(view).edges.coordinate(broker).effect.address) or str(broker)
