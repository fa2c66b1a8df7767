"""KA714."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import NO_QUORUM, no_files
from kafka_audit.cluster.listeners.inter_broker import DEFAULT_MECHANISM
from kafka_audit.cluster.listeners.principals import Ends, Principal, by_certificate, by_login
from kafka_audit.cluster.releases import releases
from kafka_audit.cluster.settings import AUTHORIZER, ROLES
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.listener_names import same_listener
from kafka_audit.configuration.authorization import CLUSTER, SUPER_USERS, authorized
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.configuration.principals.kerberos_rules import KEY as KERBEROS_RULES
from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.tables import (
    Acl,
    AclHolder,
    BrokerApi,
    BrokerConfig,
    BrokerProperty,
    Certificate,
    FileRelease,
    PropertyLogin,
    QuorumReplica,
    QuorumView,
    QuorumVoter,
    Registry,
    SnapshotInfo,
)
from kafka_audit.model.text import listing
from kafka_audit.model.voters import VOTERS, named_voters

_MECHANISM, _BUILDER = "sasl.mechanism.controller.protocol", "principal.builder.class"
_DEFAULT_BUILDER, _KEY_STORE = "DefaultKafkaPrincipalBuilder", "ssl.keystore.location"
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
        QuorumVoter,
        Certificate,
        Registry,
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
    on a SASL listener the user in the JAAS configuration of the other node. On an SSL listener it is the name in the certificate
    that the auditor was shown at the other node, where that node uses the same key store as a client (inferred). HIGH if that
    controller follows the leader now. Or the principal is a broker's, that does not follow the leader, and neither an ACL that
    was read nor `allow.everyone.if.no.acl.found` allows ClusterAction. `lint` reads no ACLs and takes them for missing.

    ## Not known when
    A value is hidden or contains a placeholder, the login of a node is not in its file, the certificate of a node was not seen
    (`controllers` in the cluster file; `lint` sees none), or the class of the authorizer or principal builder is not Kafka's own.

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
    if (nodes or view.zookeeper_read) and not any(settings.get(node, ROLES).state != "unset" for node in nodes):
        yield view.judge("KA714", "cluster", Status.NOT_APPLICABLE, who="A node", reason=NO_QUORUM)
        return
    peers = _peers(view)
    yield from (_judged(view, node, peers) for node in nodes if node in settings.with_controller_role)
    if not nodes:
        yield from no_files(view, "KA714")


@dataclass(frozen=True, kw_only=True)
class _Peers:
    """Nodes that connect to controllers in the same way: a thousand of them are seldom more than a few kinds."""

    listener: str
    protocol: str
    mechanism: str
    users: tuple[str, ...]
    subjects: tuple[str, ...]
    votes: bool


def _peers(view: ClusterView) -> Mapping[_Peers, list[int]]:
    """Return the nodes whose files were read, by how they connect to controllers."""
    between, settings = view.next_start, view.settings
    logins: defaultdict[int, list[PropertyLogin]] = defaultdict(list)
    for login in view.of(PropertyLogin):
        if login.side == "client":
            logins[login.broker_id].append(login)
    shown = _subjects(view)
    found: defaultdict[_Peers, list[int]] = defaultdict(list)
    for node in sorted(settings.every_file):
        listener = settings.controllers_listener(node)
        mechanism = settings.get(node, _MECHANISM).value or DEFAULT_MECHANISM
        own = (login for login in logins[node] if same_listener(login.listener, listener) and login.mechanism == mechanism)
        kind = _Peers(
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


def _judged(view: ClusterView, node: int, peers: Mapping[_Peers, Sequence[int]]) -> Judgement:
    between, settings = view.next_start, view.settings
    resource, who = settings.resource(node), f"controller {node}"
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
    following = view.quorum.now.replicas.keys() - view.quorum.now.late
    undecided: Principal | None = None
    for kind in sorted(peers, key=lambda kind: not kind.votes):  # a controller that is denied is worse than a broker
        # Its own broker connects as well, and after an election.
        others = [source for source in peers[kind] if source != node]
        own = [node] if node in peers[kind] and node in settings.combined else []
        for sources, votes in ((others, kind.votes), (own, False)):
            asked = [source for source in sources if votes or source not in following]
            if not asked:
                continue
            principal = _principal(view, kind, asked[0], node)
            refused = _refused(view, node, principal, supers or frozenset(), votes=votes)
            if refused:
                evidence |= {"principal": principal.names[0], "listener": kind.listener, "nodes": tuple(asked)}
                evidence["why"] = "it reads ACLs only after an election" if votes else "no ACL that was read allows it"
                evidence["whom"] = f"{'controllers' if votes else 'nodes'} {listing(asked)}" if asked[1:] else f"node {asked[0]}"
                severity = Severity.HIGH if following.issuperset(asked) else None
                sure = Confidence.MEASURED if principal.certain else Confidence.INFERRED
                return view.judge("KA714", resource, Status.FAIL, evidence, severity=severity, confidence=sure)
            undecided = undecided or (principal if refused is None else None)
    if undecided is not None:
        needs = undecided.needs or f"the ACLs of the cluster, which decide where {SUPER_USERS} does not"
        error = undecided.why if undecided.needs else f"ACLs decide whether {undecided.names[0]} has ClusterAction"
        return view.judge("KA714", resource, Status.UNKNOWN, evidence, error=error, needs=needs)
    return view.judge("KA714", resource, Status.PASS, evidence)


def _refused(view: ClusterView, node: int, principal: Principal, supers: frozenset[str], *, votes: bool) -> bool | None:
    """Return whether a controller denies a principal; None where its name, ACLs or a hidden setting decide.

    Until it has read the metadata log it answers super users only, and controllers elect a leader before that.
    """
    between, known = view.next_start, releases(view, node)
    missing = [name for name in principal.names if name not in supers]
    if not principal.names or (missing and len(missing) < len(principal.names)):
        return None
    if not missing:
        return False
    everyone, acls = between.allows_without_acl(node), between.cluster_acls(node)
    before_the_log = not known or version_numbers(known[-1]) >= _NOT_READY_SINCE
    if votes and (before_the_log or everyone is False):
        return True
    if acls is None:
        return True if everyone is False else None
    allowed = {
        authorized(name, "", "ClusterAction", CLUSTER, acls, allow_everyone_if_no_acl=bool(everyone)).allowed for name in missing
    }
    return None if len(allowed) > 1 or (everyone is None and not acls) else allowed == {False}


def _principal(view: ClusterView, kind: _Peers, source: int, target: int) -> Principal:
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
