"""Whom controllers let in, by the files of both sides: the mechanisms that they enable, and the principals that may act there."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kafka_audit.cluster.listeners.inter_broker import DEFAULT_MECHANISM
from kafka_audit.cluster.listeners.principals import Ends, Principal, by_certificate, by_login
from kafka_audit.cluster.releases import does, releases
from kafka_audit.cluster.settings import AUTHORIZER
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import is_number, java_address
from kafka_audit.compare.host_kinds import means_itself
from kafka_audit.compare.listener_names import same_listener
from kafka_audit.configuration.authorization import cluster_action
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.configuration.principals.kerberos_rules import KEY as KERBEROS_RULES
from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES
from kafka_audit.faults.resolved_names import reached_at
from kafka_audit.model.addresses.voters import VOTERS, named_voters
from kafka_audit.model.tables import Acl, Certificate, PropertyLogin, QuorumVoter

MECHANISM, ENABLED = "sasl.mechanism.controller.protocol", "sasl.enabled.mechanisms"
_KEY_STORE = "ssl.keystore.location"
_BUILDER = "principal.builder.class"
_DEFAULT_BUILDER = "DefaultKafkaPrincipalBuilder"
_MOST_PEERS = 20


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """Whether a controller denies a principal; None where its name, ACLs, an address, a release or a hidden value decide."""

    denied: bool | None
    why: str = ""  # the ACL that denies it, or what is not known
    by_host: bool = False  # ACLs name hosts: the addresses at which the node is reached decide, or would
    by_release: bool = False  # ACLs name networks, and whether the controller reads these is not known


@dataclass(frozen=True, kw_only=True)
class ControllerAccess:
    """How a controller rules on nodes that connect to it in the same way."""

    sources: tuple[int, ...]
    votes: bool  # as controllers
    listener: str
    principal: Principal
    ruling: Ruling

    @property
    def denied(self) -> bool | None:
        """Return whether the nodes are denied, None where that is not known."""
        return self.ruling.denied


@dataclass(frozen=True, kw_only=True)
class _AlikeNodes:
    """Nodes that connect to controllers in the same way: a thousand of them are seldom more than a few kinds."""

    listener: str
    protocol: str
    mechanism: str
    users: tuple[str, ...]
    subjects: tuple[str, ...]
    votes: bool


def _kinds(view: ClusterView) -> Mapping[_AlikeNodes, list[int]]:
    """Return the nodes whose files were read, by how they connect to controllers."""
    between, settings = view.next_start, view.settings
    logins: defaultdict[int, list[PropertyLogin]] = defaultdict(list)
    for login in view.of(PropertyLogin):
        if login.side == "client":
            logins[login.broker_id].append(login)
    shown = _subjects(view)
    found: defaultdict[_AlikeNodes, list[int]] = defaultdict(list)
    for node in sorted(settings.every_file):
        listener, protocol = settings.controllers_listener(node), between.protocol_to_controllers(node)
        if protocol is None:
            continue
        mechanism = settings.get(node, MECHANISM).value or DEFAULT_MECHANISM
        own = (login for login in logins[node] if same_listener(login.listener, listener) and login.mechanism == mechanism)
        kind = _AlikeNodes(
            listener=listener,
            protocol=protocol,
            mechanism=mechanism,
            users=tuple(sorted({login.username for login in own})),
            subjects=tuple(sorted(shown[node])),
            votes=node in settings.with_controller_role,
        )
        found[kind].append(node)
    return found


def _subjects(view: ClusterView) -> Mapping[int, set[str]]:
    """Return by node the subjects of the certificates that it shows to controllers: of a listener with the same key store."""
    settings = view.settings
    at: dict[tuple[str, int], int] = {}
    for node in settings.every_file:
        at |= {address: voter for voter, address in named_voters(settings.get(node, VOTERS).value).items()}
    at |= {(row.host, row.port): row.voter_id for row in view.newest(QuorumVoter)}
    found: defaultdict[int, set[str]] = defaultdict(set)
    for row in view.newest(Certificate):
        if row.broker_id < 0:
            found[at.get((row.host, row.port), row.broker_id)].add(row.subject)
        elif row.broker_id in settings.every_file:
            listeners = (row.listener, settings.controllers_listener(row.broker_id))
            stores = {settings.at(row.broker_id, listener, _KEY_STORE).value for listener in listeners}
            if len(stores) == 1 and stores != {None}:
                found[row.broker_id].add(row.subject)
    return found


def is_judged(view: ClusterView, controller: int) -> bool:
    """Return whether the rules of a controller are Kafka's own, and known."""
    between, authorizer = view.next_start, view.settings.get(controller, AUTHORIZER)
    return authorizer.value is not None and between.super_users(controller) is not None and between.understood(authorizer.value)


def access(view: ClusterView, controller: int) -> Iterator[ControllerAccess]:
    """Yield who may act at a controller, other controllers first; of brokers that follow the leader now that is known."""
    settings = view.settings
    following = view.quorum.now.replicas.keys() - view.quorum.now.late
    kinds = view.derived(_kinds)
    for alike in sorted(kinds, key=lambda alike: not alike.votes):  # a controller that is denied is worse than a broker
        # Its own broker connects as well, and after an election.
        others = [source for source in kinds[alike] if source != controller]
        own = [controller] if controller in kinds[alike] and controller in settings.combined else []
        for sources, votes in ((others, alike.votes), (own, False)):
            asked = tuple(source for source in sources if votes or source not in following)
            if asked:
                principal = _principal(view, alike, asked[0], controller)
                for ruling, nodes in _rulings(view, controller, principal, asked, votes=votes).items():
                    yield ControllerAccess(
                        sources=tuple(nodes), votes=votes, listener=alike.listener, principal=principal, ruling=ruling
                    )


def without_mechanism(view: ClusterView, listener: str, mechanism: str, controllers: Iterable[int]) -> Mapping[int, str]:
    """Return the controllers that do not enable a mechanism, and what they enable."""
    enabled = {node: view.next_start.settings.at(node, listener, ENABLED) for node in controllers}
    lists = {node: (setting.value or DEFAULT_MECHANISM) for node, setting in enabled.items() if setting.known}
    return {node: text for node, text in lists.items() if mechanism not in {part.strip() for part in text.split(",")}}


def refused_voters(view: ClusterView) -> Mapping[int, frozenset[int]]:
    """Return the controllers that do not let other controllers in, by their files, and which ones."""
    settings = view.settings
    controllers = settings.with_controller_role & settings.every_file.keys()
    found: defaultdict[int, set[int]] = defaultdict(set)
    for controller in controllers:
        for request in access(view, controller) if is_judged(view, controller) else ():
            found[controller].update(request.sources if request.votes and request.denied else ())
    for kind, sources in view.derived(_kinds).items():
        known = [source for source in sources if settings.get(source, MECHANISM).state != "hidden"]
        if kind.votes and kind.protocol.startswith("SASL"):
            for controller in without_mechanism(view, kind.listener, kind.mechanism, controllers):
                found[controller].update(source for source in known if source != controller)
    return {controller: frozenset(sources) for controller, sources in found.items() if sources}


def _rulings(
    view: ClusterView, node: int, principal: Principal, sources: Sequence[int], *, votes: bool
) -> Mapping[Ruling, Sequence[int]]:
    """Return how a controller rules on nodes with one principal: on all alike, unless ACLs name hosts.

    Until it has read the metadata log it answers super users only, and controllers elect a leader before that.
    """
    between, known = view.next_start, releases(view, node)
    supers, everyone = between.super_users(node) or frozenset(), between.allows_without_acl(node)
    missing = [name for name in principal.names if name not in supers]
    if not principal.names or (missing and len(missing) < len(principal.names)):
        return {Ruling(denied=None): sources}
    if not missing:
        return {Ruling(denied=False): sources}
    before_the_log = not known or behaviour("controllers_wait_for_acls").holds(known[-1])
    if votes and (before_the_log or everyone is False):
        return {Ruling(denied=True): sources}
    acls = between.cluster_acls(node)
    if acls is None or (everyone is None and not acls):
        return {Ruling(denied=True if acls is None and everyone is False else None): sources}
    decide = partial(_by_acls, missing, acls, everyone=bool(everyone), networks=does(view, node, "acl_networks"))
    ruling = decide()
    if not ruling.by_host:
        return {ruling: sources}
    rulings = {source: _by_addresses(view, source, node, decide) or ruling for source in sources}
    refuted = any(own.denied for own in rulings.values()) and _let_in(view, sources, node, decide)
    found: defaultdict[Ruling, list[int]] = defaultdict(list)
    for source, own in rulings.items():
        found[ruling if own.denied and refuted else own].append(source)
    return found


def _by_acls(
    names: Iterable[str], acls: Sequence[Acl], *, everyone: bool, networks: bool | None, hosts: Iterable[str] | None = None
) -> Ruling:
    """Rule by ACLs of the cluster, on connections from these hosts, or from any."""
    decisions = (
        decision for name in names for decision in cluster_action(name, acls, everyone=everyone, networks=networks, hosts=hosts)
    )
    first = next(decisions)
    other = next((decision for decision in decisions if decision.allowed != first.allowed), None)
    if other is not None:
        unread = networks is None and any("/" in acl.host for acl in acls)
        return Ruling(denied=None, why=f"its ACLs depend on the host: {other.why}", by_host=True, by_release=unread)
    return Ruling(denied=not first.allowed, why=first.why if first.acl else "", by_host=hosts is not None)


def _by_addresses(view: ClusterView, source: int, target: int, decide: Callable[..., Ruling]) -> Ruling | None:
    """Rule on a node by the addresses at which it is reached: it connects from one, unless its host has others.

    None if a name was not resolved, or if one end is the local host: then it may connect from any.
    """
    reached = view.derived(reached_at)
    hosts = reached.get(source, frozenset())
    if any(map(means_itself, hosts | reached.get(target, frozenset()))) or not all(map(is_number, hosts)) or not hosts:
        return None
    return decide(hosts=sorted(map(java_address, hosts)))


def _let_in(view: ClusterView, sources: Sequence[int], target: int, decide: Callable[..., Ruling]) -> bool:
    """Return whether a node that connects alike follows now, and would be denied by its addresses, too: it has others."""
    alike = next(nodes for nodes in view.derived(_kinds).values() if sources[0] in nodes)
    following = view.quorum.now.replicas.keys() - view.quorum.now.late - {target}
    peers = [node for node in alike if node in following][:_MOST_PEERS]
    rulings = (_by_addresses(view, peer, target, decide) for peer in peers)
    return any(ruling is not None and ruling.denied for ruling in rulings)


def _principal(view: ClusterView, kind: _AlikeNodes, source: int, target: int) -> Principal:
    """Return as whom nodes of a kind appear at a controller, by one of them."""
    settings = view.settings
    builder = settings.at(target, kind.listener, _BUILDER)
    needs = f"server.properties of nodes {source} and {target}"
    if not kind.listener:
        return Principal(names=(), certain=False, why=f"node {source} names no listener of controllers", needs=needs)
    if builder.state == "hidden" or (builder.value and not builder.value.endswith(_DEFAULT_BUILDER)):
        why = f"node {target} builds principals with {builder.value or 'an unknown class'}"
        return Principal(names=(), certain=False, why=why, needs=needs)
    if kind.protocol == "PLAINTEXT":
        return Principal(names=(ANONYMOUS,), certain=True, why=f"listener {kind.listener} is PLAINTEXT")
    ends = Ends(source=source, target=target, listener=kind.listener)
    if not kind.protocol.startswith("SASL"):
        asked, rules = (settings.at(target, kind.listener, key) for key in ("ssl.client.auth", SSL_RULES))
        found = by_certificate(ends, asked, rules, kind.subjects)
        if found.names == (ANONYMOUS,):
            return found
        needs = f"the subject of the certificate of node {source}, by `controllers` and a `ca_file` in the cluster file"
        return replace(found, why=f"the certificate of node {source} decides", needs=needs)
    return by_login(ends, kind.mechanism, kind.users, settings.at(target, kind.listener, KERBEROS_RULES))
