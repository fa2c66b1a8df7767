"""Whom controllers let in, by the files of both sides: the mechanisms that they enable, and the principals that may act there."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from kafka_audit.cluster.listeners.inter_broker import DEFAULT_MECHANISM
from kafka_audit.cluster.listeners.principals import Ends, Principal, by_certificate, by_login
from kafka_audit.cluster.releases import releases
from kafka_audit.cluster.settings import AUTHORIZER
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.listener_names import same_listener
from kafka_audit.configuration.authorization import CLUSTER, authorized
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.configuration.principals.kerberos_rules import KEY as KERBEROS_RULES
from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES
from kafka_audit.model.addresses.voters import VOTERS, named_voters
from kafka_audit.model.tables import Certificate, PropertyLogin, QuorumVoter

MECHANISM, ENABLED = "sasl.mechanism.controller.protocol", "sasl.enabled.mechanisms"
_KEY_STORE = "ssl.keystore.location"
_BUILDER = "principal.builder.class"
_DEFAULT_BUILDER = "DefaultKafkaPrincipalBuilder"
_NOT_READY_SINCE = (3, 3)


@dataclass(frozen=True, kw_only=True)
class ControllerAccess:
    """Whether a controller denies nodes that connect to it in the same way; None where a name, ACLs or a hidden value decide."""

    sources: tuple[int, ...]
    votes: bool  # as controllers
    listener: str
    principal: Principal
    denied: bool | None


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
        listener = settings.controllers_listener(node)
        mechanism = settings.get(node, MECHANISM).value or DEFAULT_MECHANISM
        own = (login for login in logins[node] if same_listener(login.listener, listener) and login.mechanism == mechanism)
        kind = _AlikeNodes(
            listener=listener,
            protocol=between.protocol(node, listener) or "PLAINTEXT",
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
    between, settings = view.next_start, view.settings
    following = view.quorum.now.replicas.keys() - view.quorum.now.late
    supers, kinds = between.super_users(controller) or frozenset(), view.derived(_kinds)
    for alike in sorted(kinds, key=lambda alike: not alike.votes):  # a controller that is denied is worse than a broker
        # Its own broker connects as well, and after an election.
        others = [source for source in kinds[alike] if source != controller]
        own = [controller] if controller in kinds[alike] and controller in settings.combined else []
        for sources, votes in ((others, alike.votes), (own, False)):
            asked = tuple(source for source in sources if votes or source not in following)
            if asked:
                principal = _principal(view, alike, asked[0], controller)
                denied = _denied(view, controller, principal, supers, votes=votes)
                yield ControllerAccess(sources=asked, votes=votes, listener=alike.listener, principal=principal, denied=denied)


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


def _denied(view: ClusterView, node: int, principal: Principal, supers: frozenset[str], *, votes: bool) -> bool | None:
    """Return whether a controller denies a principal; None where its name, ACLs or a hidden setting decide.

    Until it has read the metadata log it answers super users only, and controllers elect a leader before that.
    """
    between, known = view.next_start, releases(view, node)
    missing = [name for name in principal.names if name not in supers]
    if not principal.names or (missing and len(missing) < len(principal.names)):
        return None
    if not missing:
        return False
    everyone = between.allows_without_acl(node)
    before_the_log = not known or version_numbers(known[-1]) >= _NOT_READY_SINCE
    if votes and (before_the_log or everyone is False):
        return True
    acls = between.cluster_acls(node)
    if acls is None:
        return True if everyone is False else None
    allowed = {
        authorized(name, "", "ClusterAction", CLUSTER, acls, allow_everyone_if_no_acl=bool(everyone)).allowed for name in missing
    }
    return None if len(allowed) > 1 or (everyone is None and not acls) else allowed == {False}


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
