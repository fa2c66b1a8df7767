from collections import Counter
from collections.abc import Mapping, Sequence

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.model.text import listing, named_nodes, start_upper

_KEY = "super.users"


@check(code="KA402", severity=Severity.HIGH, by_files=True)
def super_users_differ(view: ClusterView) -> Judgements:
    """Brokers, or controllers, have different super users."""
    between = view.inter_broker
    yield from _alike(view, between.brokers)
    yield from _alike(view, sorted(between.settings.controllers))
    yield from no_brokers(view)


def _alike(view: ClusterView, nodes: Sequence[int]) -> Judgements:
    """Compare nodes that have the same super users, where they are alike: brokers, or controllers."""
    between = view.inter_broker
    reported = {node: between.super_users(node) for node in nodes if between.authorizer(node).value}
    known = {node: users for node, users in reported.items() if users is not None}
    usual = _usual_set(known)
    others = [node for node, users in known.items() if users == usual]
    for node in nodes:
        users, party = known.get(node), between.settings.party(node)
        resource, (kind, _, _) = party.replace(" ", "/"), party.partition(" ")
        if reason := _aside(between, node):
            yield view.not_applicable(resource, reason, who=party)
        elif users is None or len(known) == 1:
            yield _unread_super_users(view, node, hidden=node in reported and users is None)
        else:
            fault = _difference(usual - users, users - usual)
            evidence: dict[str, object] = {"node": node, "who": party, "subject": start_upper(party), "key": _KEY}
            evidence |= {"others": named_nodes(kind, others), "fault": fault, "count": len(users)}
            evidence |= {f"other_{kind}s": tuple(sorted(others)), "lacks": tuple(sorted(usual - users))}
            evidence["more"] = tuple(sorted(users - usual))
            yield view.judge(resource, Status.FAIL if fault else Status.PASS, evidence)


def _aside(between: InterBroker, broker: int) -> str:
    """Return why there is nothing to compare at a broker; "" where there is, or may be."""
    if between.authorizer(broker).state == "unset":
        return "it runs no authorizer"
    others = [other for other in between.settings.peers(between.brokers, broker) if other != broker]
    alone = all(between.authorizer(broker).state == "unset" for broker in others)
    kind = between.settings.party(broker).partition(" ")[0]
    return (f"no other {kind} runs an authorizer" if others else f"it is the only {kind}") if alone else ""


def _usual_set(known: Mapping[int, frozenset[str]]) -> frozenset[str]:
    """Return the set that most brokers have, of equally many the larger one, because missing users cause failures."""
    kinds = Counter(known.values())
    return min(kinds, key=lambda users: (-kinds[users], -len(users), sorted(users)), default=frozenset())


def _difference(lacking: frozenset[str], more: frozenset[str]) -> str:
    """Return what a set lacks and has too much, for a sentence; "" where it is equal."""
    reported = [f"{listing(sorted(lacking))} missing"] if lacking else []
    reported += [f"{listing(sorted(more))} extra"] if more else []
    return ", ".join(reported)


def _unread_super_users(view: ClusterView, broker: int, *, hidden: bool) -> Judgement:
    """Return that a broker's super users, or all others', are not known."""
    own = view.inter_broker.super_users(broker) is None
    party = view.settings.party(broker)
    others = f"the other {party.partition(' ')[0]}s"
    error = (
        f"{_KEY} is set but hidden" if hidden else "its settings were not read" if own else f"super users of {others} are unknown"
    )
    needs = f"server.properties of {party if own else others} (`properties` in the cluster file)"
    return view.unknown(party.replace(" ", "/"), error, needs, who=party)
