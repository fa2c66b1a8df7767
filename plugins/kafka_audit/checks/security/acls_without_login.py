from collections.abc import Iterator

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.configuration.authorization import ANY_PRINCIPAL
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.model.tables import ScramUser
from kafka_audit.model.text import listing

_USER, _DEFAULT_SOURCE = "User:", 5  # Kafka's ConfigSource: DEFAULT_CONFIG
_DECIDE = frozenset({"principal.builder.class", "delegation.token.secret.key", "delegation.token.master.key"})
_CALLBACK = "sasl.server.callback.handler.class"
OPERATION = "DescribeUserScramCredentials of ACLs"


@check(code="KA416", severity=Severity.INFO)
def acls_without_login(view: ClusterView) -> Judgements:
    """An ACL names a user without a login: no SCRAM credential has this name, and brokers take no other logins."""
    between, brokers = view.inter_broker, view.inter_broker.brokers
    if brokers and all(between.authorizer(broker).state == "unset" for broker in brokers):
        yield view.not_applicable("cluster", "no broker runs an authorizer")
        return
    held = [between.acls(broker) for broker in brokers]
    if not brokers or None in held:
        yield from [*no_brokers(view)] or [view.unknown("cluster", "ACLs were not read", "Describe on Cluster")]
        return
    if (other := next(_other_logins(view), None)) is not None:
        yield view.not_applicable("cluster", other)
        return
    if unread := next(_unread(view), None):
        yield view.unknown("cluster", *unread)
        return
    acls = {acl for acls in held for acl in acls or ()}
    known = {f"{_USER}{row.user}" for row in view.of(ScramUser)}
    known |= {f"{_USER}{login.username}" for login in between.settings.logins}
    known |= {acl.principal for acl in acls if acl.operation == "ClusterAction"}  # nodes may log in otherwise, at controllers
    known |= {user for broker in brokers for user in between.super_users(broker) or ()}
    named = {acl.principal for acl in acls if acl.principal.startswith(_USER)} - {ANY_PRINCIPAL, ANONYMOUS}
    without = sorted(named - known)
    where = sorted({f"{acl.resource_type} {acl.resource_name}" for acl in acls if acl.principal in without})
    evidence = {"users": listing(without, 5), "resources": listing(where, 5), "count": len(named)}
    yield view.judge("cluster", Status.FAIL if without else Status.PASS, evidence)


def _other_logins(view: ClusterView) -> Iterator[str]:
    """Yield how a client may be a user without a SCRAM credential."""
    between = view.inter_broker
    for broker in between.brokers:
        for listener in sorted(between.offered(broker) or ()):
            protocol, offered = between.protocol(broker, listener), view.logins.offered_mechanisms(broker, listener)
            others = sorted(name for name in offered or () if not name.startswith("SCRAM-"))
            if protocol == "SSL" or ((protocol or "").startswith("SASL") and others):
                yield f"listener {listener} takes logins with {'certificates' if protocol == 'SSL' else others[0]}, too"
        if made_by := sorted(key for key in _set_keys(view, broker) if key in _DECIDE or key.endswith(_CALLBACK)):
            yield f"broker {broker} sets {made_by[0]}, which makes users in another way"


def _set_keys(view: ClusterView, broker: int) -> frozenset[str]:
    """Return what a broker sets to anything but Kafka's default."""
    settings = view.inter_broker.settings
    reported = {key for key, row in settings.reported(broker).items() if row.source != _DEFAULT_SOURCE}
    return frozenset(reported | settings.every_file.get(broker, {}).keys())


def _unread(view: ClusterView) -> Iterator[tuple[str, str]]:
    between = view.inter_broker
    for broker in between.brokers:
        protocols = {name: between.protocol(broker, name) for name in between.offered(broker) or ()}
        unknown = [
            name
            for name, protocol in protocols.items()
            if protocol is None or (protocol.startswith("SASL") and view.logins.offered_mechanisms(broker, name) is None)
        ]
        if not protocols or unknown:
            yield f"the logins that broker {broker} takes were not read", "DescribeConfigs on Cluster"
    operation = OPERATION if view.kraft else "zookeeper /config/users"
    reads = [read for read in view.last_reads if read.operation == operation]
    if not any(read.outcome == "answered" for read in reads):
        why = next((read.error for read in reads if read.error), None)
        yield f"SCRAM users were not read: {why or 'not asked'}", "Describe on Cluster" if view.kraft else "read on /config/users"
