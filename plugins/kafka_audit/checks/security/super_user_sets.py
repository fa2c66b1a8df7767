"""Sets of super users compared, for KA402."""

from collections import Counter
from collections.abc import Mapping

from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.text import listing

KEY = "super.users"


def aside(between: InterBroker, broker: int) -> str:
    """Return why there is nothing to compare at a broker; "" where there is, or may be."""
    if between.authorizer(broker).state == "unset":
        return "it runs no authorizer"
    others = [other for other in between.settings.peers(between.brokers, broker) if other != broker]
    alone = all(between.authorizer(broker).state == "unset" for broker in others)
    kind = between.settings.party(broker).partition(" ")[0]
    return (f"no other {kind} runs an authorizer" if others else f"it is the only {kind}") if alone else ""


def usual_set(known: Mapping[int, frozenset[str]]) -> frozenset[str]:
    """Return the set that most brokers have, of equally many the larger one, because missing users cause failures."""
    kinds = Counter(known.values())
    return min(kinds, key=lambda users: (-kinds[users], -len(users), sorted(users)), default=frozenset())


def difference(lacking: frozenset[str], more: frozenset[str]) -> str:
    """Return what a set lacks and has too much, for a sentence; "" where it is equal."""
    reported = [f"{listing(sorted(lacking))} missing"] if lacking else []
    reported += [f"{listing(sorted(more))} extra"] if more else []
    return ", ".join(reported)


def unread_super_users(view: ClusterView, broker: int, *, hidden: bool) -> Judgement:
    """Return that a broker's super users, or all others', are not known."""
    own = view.inter_broker.super_users(broker) is None
    party = view.settings.party(broker)
    others = f"the other {party.partition(' ')[0]}s"
    error = (
        f"{KEY} is set but hidden" if hidden else "its settings were not read" if own else f"super users of {others} are unknown"
    )
    needs = f"server.properties of {party if own else others} (`properties` in the cluster file)"
    return view.judge("KA402", party.replace(" ", "/"), Status.UNKNOWN, who=party, error=error, needs=needs)
