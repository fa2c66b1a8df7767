"""Which users have a login where brokers take SCRAM alone, for checks of rights and quotas of users without one."""

from collections.abc import Iterator

from kafka_audit.checks import ClusterView
from kafka_audit.configuration.authorization import ANY_PRINCIPAL
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.model.tables import ScramUser
from kafka_audit.model.tables.views import DEFAULT_SOURCE

USER = "User:"
_DECIDE = frozenset({"principal.builder.class", "delegation.token.secret.key", "delegation.token.master.key"})
_CALLBACK = "sasl.server.callback.handler.class"


def without_login(view: ClusterView, named: frozenset[str]) -> tuple[str, ...]:
    """Return those of these principals that no login makes: nodes may log in otherwise, at controllers."""
    between = view.inter_broker
    acls = {acl for broker in between.brokers for acl in between.acls(broker) or ()}
    known = {ANY_PRINCIPAL, ANONYMOUS, *(f"{USER}{row.user}" for row in view.of(ScramUser))}
    known |= {f"{USER}{login.username}" for login in between.settings.logins}
    known |= {acl.principal for acl in acls if acl.operation == "ClusterAction"}
    known |= {user for broker in between.brokers for user in between.super_users(broker) or ()}
    return tuple(sorted(principal for principal in named - known if principal.startswith(USER)))


def other_logins(view: ClusterView) -> Iterator[str]:
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
    reported = {key for key, row in settings.reported(broker).items() if row.source != DEFAULT_SOURCE}
    return frozenset(reported | settings.every_file.get(broker, {}).keys())


def unread_logins(view: ClusterView, operation: str) -> Iterator[tuple[str, str]]:
    """Yield what is not known of logins, with what it needs; `operation`: the read, in KRaft, of the credentials that count."""
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
    operation = operation if view.kraft else "zookeeper /config/users"
    reads = [read for read in view.last_reads if read.operation == operation]
    if not any(read.outcome == "answered" for read in reads):
        why = next((read.error for read in reads if read.error), None)
        yield f"SCRAM users were not read: {why or 'not asked'}", "Describe on Cluster" if view.kraft else "read on /config/users"
