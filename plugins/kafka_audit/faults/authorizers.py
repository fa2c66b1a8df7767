"""May the other brokers, the controller above all, act at a broker? What its authorizer, super users and ACLs say."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.listeners.principals import Principal, file_of
from kafka_audit.cluster.releases import does
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.authorization import NO_ACL, NO_ACL_EXISTS, cluster_action
from kafka_audit.model.tables import Acl

UNKNOWN_PRINCIPAL = "User:\N{REPLACEMENT CHARACTER}"
"""A principal that no ACL names: what is decided for it holds for any that is not named."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """What one broker's authorizer says of one principal, and of which brokers it is."""

    principal: Principal
    name: str
    sources: tuple[int, ...]
    allowed: bool | None  # None: not decided
    why: str
    needs: str = ""
    acl: Acl | None = None
    hidden: bool = False  # only a hidden setting could still allow it
    hidden_key: str | None = None  # of a setting that is set and not shown


def pairs_at(view: ClusterView, broker: int) -> Iterator[Pair]:
    """Yield what a broker's authorizer says of each principal that another broker, or it itself, appears as."""
    between = view.inter_broker
    groups: dict[tuple[str, ...], tuple[Principal, list[int]]] = {}
    for sources in between.kinds:
        principal = between.principal(sources[0], broker)
        groups.setdefault(principal.names, (principal, []))[1].extend(sources)
    for names, (principal, brokers) in groups.items():
        judged = [_pair(view, broker, principal, name, tuple(sorted(brokers))) for name in names or (UNKNOWN_PRINCIPAL,)]
        verdicts = {pair.allowed for pair in judged}
        yield judged[0] if len(verdicts) == 1 else replace(judged[0], allowed=None, why=principal.why, needs=principal.needs)


def _pair(view: ClusterView, broker: int, principal: Principal, name: str, sources: tuple[int, ...]) -> Pair:
    undecided = Pair(principal=principal, name=name, sources=sources, allowed=None, why=principal.why, needs=principal.needs)
    if principal.fails or principal.refused:
        return undecided
    between = view.inter_broker
    authorizer = between.authorizer(broker).value or ""
    supers, acls = between.super_users(broker), between.cluster_acls(broker)
    if not between.understood(authorizer):
        why, needs = f"{authorizer} uses its own rules", f"the authorizer log of broker {broker}"
        return replace(undecided, why=why, needs=needs)
    if supers is not None and name in supers:
        return replace(undecided, allowed=True, why=f"{name} is in super.users of broker {broker}", needs="")
    if acls is None and not between.asked:
        return _by_files(between, broker, undecided, supers)
    if acls is None:
        return replace(undecided, why="its ACLs were not read", needs="Describe on Cluster, or read on /kafka-acl")
    return _ruled(view, broker, undecided, supers, acls)


def _by_files(between: InterBroker, broker: int, undecided: Pair, supers: frozenset[str] | None) -> Pair:
    """Decide by super.users alone: with allow.everyone.if.no.acl.found, ACLs of the cluster could only take the right away."""
    name, named = undecided.name, bool(undecided.principal.names)
    subject = "the inter-broker principal is unknown" if name == UNKNOWN_PRINCIPAL else f"{name} is not in super.users"
    if between.allows_without_acl(broker) is not False:
        why, needs = f"{subject}, and {NO_ACL} decides if no ACL is about the cluster", f"the ACLs of broker {broker}"
        return replace(undecided, why=why, needs=needs)
    why = f"{subject}, and no ACLs were read"
    return replace(undecided, allowed=False if named and supers is not None else None, why=why, needs=file_of(broker))


def _ruled(view: ClusterView, broker: int, undecided: Pair, supers: frozenset[str] | None, acls: Sequence[Acl]) -> Pair:
    """Decide by ACLs, as far as hidden settings, addresses and the release let that be."""
    everyone, networks = view.inter_broker.allows_without_acl(broker), does(view, broker, "acl_networks")
    decisions = cluster_action(undecided.name, acls, everyone=bool(everyone), networks=networks)
    decided, named = next(decisions), bool(undecided.principal.names)
    other = next((decision for decision in decisions if decision.allowed != decided.allowed), None)
    if other is not None:
        release = " and its release" if networks is None and any("/" in acl.host for acl in acls) else ""
        needs = f"the address from which brokers connect to broker {broker}{release}"
        denying = next((one.acl for one in (decided, other) if not one.allowed), None)  # what is refused there is refused by it
        return replace(undecided, why=f"its ACLs depend on the host: {other.why}", needs=needs, acl=denying)
    if decided.allowed:
        return replace(undecided, allowed=True, why=decided.why, acl=decided.acl, needs="")
    if supers is None or (everyone is None and decided.why == NO_ACL_EXISTS):
        key = "super.users" if supers is None else "allow.everyone.if.no.acl.found"
        why = f"{decided.why}, and {key} of broker {broker} is set but hidden"
        return replace(undecided, why=why, needs=file_of(broker), acl=decided.acl, hidden=named, hidden_key=key)
    if named or not supers:
        return replace(undecided, allowed=False, why=decided.why, acl=decided.acl)
    return undecided
