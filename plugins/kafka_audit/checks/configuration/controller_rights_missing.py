"""KA714."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import NO_QUORUM, no_files
from kafka_audit.cluster.listeners.inter_broker import DEFAULT_MECHANISM
from kafka_audit.cluster.listeners.principals import Ends, Principal, by_certificate, by_login
from kafka_audit.cluster.releases import releases
from kafka_audit.cluster.settings import AUTHORIZER, ROLES
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.listener_names import canonical_listener, same_listener
from kafka_audit.configuration.authorization import CLUSTER, SUPER_USERS, authorized
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.configuration.principals.kerberos_rules import KEY as KERBEROS_RULES
from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES
from kafka_audit.model.advertised_listeners import CONTROLLERS
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import (
    Acl,
    AclHolder,
    BrokerApi,
    BrokerConfig,
    BrokerProperty,
    FileRelease,
    PropertyLogin,
    QuorumReplica,
    QuorumView,
    SnapshotInfo,
)
from kafka_audit.model.text import listing

_MECHANISM, _BUILDER = "sasl.mechanism.controller.protocol", "principal.builder.class"
_DEFAULT_BUILDER = "DefaultKafkaPrincipalBuilder"
_NOT_READY_SINCE = (3, 3)


@check(
    code="KA714",
    severity=Severity.CRITICAL,
    needs=(
        BrokerProperty,
        PropertyLogin,
        FileRelease,
        BrokerConfig,
        BrokerApi,
        AclHolder,
        Acl,
        QuorumView,
        QuorumReplica,
        SnapshotInfo,
    ),
    by_files=True,
    says={
        Status.FAIL: "Controller {node} denies {whom}: {principal} ({listener}) is not in its super.users ({why})",
        Status.PASS: "Controller {node} authorizes every node whose file was read",
        Status.UNKNOWN: "Cannot determine whether {who} authorizes the other nodes ({error})",
        Status.NOT_APPLICABLE: "{who} authorizes every node: {reason}",
    },
)
def controller_rights_missing(view: ClusterView) -> Iterator[Judgement]:
    """A controller has an authorizer, and its super.users lack the principal of another controller or of a broker.

    ## Why it matters
    Votes and fetches of controllers, and registrations, heartbeats and fetches of brokers require ClusterAction at the
    controller. ACLs are in the metadata log. Until a controller has read it, StandardAuthorizer of Kafka 3.3 and later answers
    super users only, also if `allow.everyone.if.no.acl.found` is true. If all controllers stop, they elect no leader again.

    ## Fails when
    By the files, a node with the controller role runs Kafka's own authorizer, and the principal of another controller on the
    first listener of `controller.listener.names` is not in its `super.users`. It is User:ANONYMOUS on a PLAINTEXT listener, and
    on a SASL listener the user in the JAAS configuration of the other node. HIGH if that controller follows the leader now. Or
    the principal is a broker's, that does not follow the leader, and neither an ACL that was read nor
    `allow.everyone.if.no.acl.found` allows ClusterAction. `lint` reads no ACLs and takes them for missing.

    ## Not known when
    A value is hidden or contains a placeholder, the login of a node is not in its file, certificates decide, or the class of the
    authorizer or principal builder is not Kafka's own.

    ## Passes only when
    The principals of all nodes whose files were read are super users, or may act as described. The check does not apply to a
    controller without an authorizer (KA407), or with ZooKeeper.

    ## What to do
    Add {principal} to `super.users` in server.properties of every controller, separated by a semicolon, and restart controllers
    one by one, while a majority follows (KA209). If that is User:ANONYMOUS, every client that reaches the port may do
    everything: give the controllers' listener a login (`sasl.mechanism.controller.protocol`) or client certificates instead.

    ## References
    KIP-801 (StandardAuthorizer, `early.start.listeners`);
    `org.apache.kafka.metadata.authorizer.StandardAuthorizerData.authorize`; Kafka documentation, "Authorization and ACLs".
    """
    settings = view.settings
    nodes = sorted(settings.every_file)
    if nodes and not any(settings.get(node, ROLES).state != "unset" for node in nodes):
        yield view.judge("KA714", "cluster", Status.NOT_APPLICABLE, who="A node", reason=NO_QUORUM)
        return
    yield from (_judged(view, node) for node in nodes if _has_role(view, node, "controller"))
    if not nodes:
        yield from no_files(view, "KA714")


def _has_role(view: ClusterView, node: int, role: str) -> bool:
    return role in {part.strip() for part in (view.settings.get(node, ROLES).value or "").split(",")}


def _judged(view: ClusterView, node: int) -> Judgement:
    between, settings = view.next_start, view.settings
    resource, who = f"{'controller' if node in settings.controllers else 'broker'}/{node}", f"controller {node}"
    evidence: dict[str, object] = {"node": node, "who": who, "key": settings.first_set(node, SUPER_USERS, AUTHORIZER)}
    authorizer, supers = settings.get(node, AUTHORIZER), between.super_users(node)
    if authorizer.state == "unset":
        reason = "it runs no authorizer"
        return view.judge("KA714", resource, Status.NOT_APPLICABLE, who=who.capitalize(), reason=reason)
    hidden = authorizer.value is None or supers is None
    if hidden or not between.understood(authorizer.value or ""):
        error = f"{AUTHORIZER} or {SUPER_USERS} is unknown" if hidden else f"{authorizer.value} uses its own rules"
        needs = f"the file as {who} reads it" if hidden else f"the authorizer log of {who}"
        return view.judge("KA714", resource, Status.UNKNOWN, evidence, error=error, needs=needs)
    unknown: Principal | None = None
    denied: dict[tuple[str, str, bool], list[int]] = {}
    for source in settings.every_file:
        if source == node and not _has_role(view, node, "broker"):
            continue
        listener, principal = _principal(view, source, node)
        names = [name for name in principal.names if name not in (supers or ())]
        votes = source != node and _has_role(view, source, "controller")
        refused = bool(names) and (_before_the_log(view, node) if votes else _refused(view, source, node, names))
        if refused:
            denied.setdefault((names[0], listener, votes), []).append(source)
        elif refused is None or not principal.names:
            unknown = unknown or principal
    if denied:
        (name, listener, votes), sources = min(denied.items(), key=lambda item: (not item[0][2], item[0]))
        now = view.quorum.now
        latent = all(source in now.replicas and source not in now.late for source in sources)
        why = "it reads ACLs only after an election" if votes else "no ACL that was read allows it"
        evidence |= {"principal": name, "listener": listener, "why": why, "nodes": tuple(sorted(sources))}
        evidence["whom"] = (
            f"{'controllers' if votes else 'nodes'} {listing(sorted(sources))}" if sources[1:] else f"node {sources[0]}"
        )
        return view.judge("KA714", resource, Status.FAIL, evidence, severity=Severity.HIGH if latent else None)
    if unknown is not None:
        needs = unknown.needs or f"the ACLs of the cluster, which decide where {SUPER_USERS} does not"
        return view.judge("KA714", resource, Status.UNKNOWN, evidence, error=unknown.why, needs=needs)
    return view.judge("KA714", resource, Status.PASS, evidence)


def _before_the_log(view: ClusterView, node: int) -> bool:
    """Return whether a controller answers super users only until it has read the metadata log; else it may deny all others."""
    known = releases(view, node)
    return not known or version_numbers(known[-1]) >= _NOT_READY_SINCE or view.next_start.allows_without_acl(node) is False


def _refused(view: ClusterView, source: int, node: int, names: list[str]) -> bool | None:
    """Return whether a controller that has read its ACLs denies a node; None where ACLs or a hidden setting decide."""
    between, now = view.next_start, view.quorum.now
    everyone, acls = between.allows_without_acl(node), between.cluster_acls(node)
    if source in now.replicas and source not in now.late:
        return False
    if acls is None:
        return True if everyone is False else None
    allowed = {
        authorized(name, "", "ClusterAction", CLUSTER, acls, allow_everyone_if_no_acl=bool(everyone)).allowed for name in names
    }
    return None if len(allowed) > 1 or (everyone is None and not acls) else allowed == {False}


def _principal(view: ClusterView, source: int, target: int) -> tuple[str, Principal]:
    """Return the listener on which a node connects to controllers, and as whom it appears there."""
    between, settings = view.next_start, view.settings
    names, mechanism = settings.get(source, CONTROLLERS), settings.get(source, _MECHANISM)
    listener = canonical_listener((names.value or "").split(",")[0])
    builder = settings.at(target, listener, _BUILDER)
    needs = f"server.properties of nodes {source} and {target}"
    if not listener or builder.state == "hidden" or (builder.value and not builder.value.endswith(_DEFAULT_BUILDER)):
        why = (
            f"node {target} builds principals with {builder.value or 'an unknown class'}"
            if listener
            else "its listener is unknown"
        )
        return listener, Principal(names=(), certain=False, why=why, needs=needs)
    protocol = between.protocol(source, listener) or "PLAINTEXT"
    if protocol == "PLAINTEXT":
        return listener, Principal(names=(ANONYMOUS,), certain=True, why=f"listener {listener} is PLAINTEXT")
    ends = Ends(source=source, target=target, listener=listener)
    if not protocol.startswith("SASL"):
        asked, rules = (settings.at(target, listener, key) for key in ("ssl.client.auth", SSL_RULES))
        return listener, by_certificate(ends, asked, rules, ())
    used = mechanism.value or DEFAULT_MECHANISM
    logins = (login for login in view.of(PropertyLogin) if login.broker_id == source and login.side == "client")
    own = [login.username for login in logins if same_listener(login.listener, listener) and login.mechanism == used]
    return listener, by_login(ends, used, own, settings.at(target, listener, KERBEROS_RULES))
