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
    others = [other for other in between.brokers if other != broker]
    alone = all(between.authorizer(broker).state == "unset" for broker in others)
    return ("no other broker runs an authorizer" if others else "it is the only broker") if alone else ""


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
    error = (
        f"{KEY} is set but hidden"
        if hidden
        else "its settings were not read"
        if own
        else "super users of the other brokers are unknown"
    )
    whose = f"broker {broker}" if own else "the other brokers"
    evidence = {
        "who": f"broker {broker}",
        "error": error,
        "needs": f"server.properties of {whose} (`properties` in the cluster file)",
    }
    return view.judge("KA402", f"broker/{broker}", Status.UNKNOWN, evidence)
