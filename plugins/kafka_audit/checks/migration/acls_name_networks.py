from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.checks.migration.common import no_upgrade, planned_upgrade, target_minor
from kafka_audit.cluster.releases import does
from kafka_audit.compare.addresses import network_of
from kafka_audit.configuration.authorization import acl_phrase
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.model.tables import Acl
from kafka_audit.model.text import counted, listing

_MOST = 50


@gate_check(code="KA916", severity=Severity.HIGH)
def acls_name_networks(view: ClusterView) -> Judgements:
    """ACLs whose host is a network match no client now, and take effect with the new release."""
    planned, minor = planned_upgrade(view), target_minor(planned_upgrade(view))
    if planned is None or minor is None:
        yield from no_upgrade(view)
        return
    between, facts = view.inter_broker, {"target": planned.version}
    if reason := _reason(view, minor):
        yield view.not_applicable("cluster", reason, facts)
    elif not between.holders:
        yield view.unknown("cluster", "no ACLs were read", "Describe on Cluster", facts)
    elif not (found := _dormant(view)):
        yield view.judge("cluster", Status.PASS, facts)
    else:
        denying = [acl for acl in found if acl.permission == "DENY"]
        phrases = [*map(acl_phrase, (*denying, *(acl for acl in found if acl.permission != "DENY")))]
        facts |= {"count": counted(len(found), "ACL"), "acls": listing(phrases, 3), "every": listing(phrases, _MOST)}
        yield view.judge("cluster", Status.FAIL, facts, severity=Severity.HIGH if denying else Severity.MEDIUM)


def _reason(view: ClusterView, minor: tuple[int, ...]) -> str:
    """Return why no ACL changes its meaning."""
    between = view.inter_broker
    networks = behaviour("acl_networks")
    if not networks.holds(minor):
        return f"before Kafka {networks.first} the host of an ACL is an address or `*`"
    if not view.kraft:
        return "the migration to KRaft comes first (KA912)"
    if between.brokers and all(between.authorizer(broker).state == "unset" for broker in between.brokers):
        return "no broker runs an authorizer"
    if between.brokers and all(does(view, broker, "acl_networks") for broker in between.brokers):
        return "every broker compares addresses with networks already"
    return ""


def _dormant(view: ClusterView) -> list[Acl]:
    """Return the ACLs of networks, without those that say of a network what another one says of every host."""
    held = {holder.acls_digest for holder in view.inter_broker.holders.values()}
    acls = {_of_host(acl, acl.host): acl for acl in view.of(Acl) if acl.acls_digest in held}
    return [acl for key, acl in sorted(acls.items()) if network_of(acl.host) and _of_host(acl, "*") not in acls]


def _of_host(acl: Acl, host: str) -> tuple[str, ...]:
    return (acl.principal, acl.resource_type, acl.resource_name, acl.pattern_type, acl.operation, acl.permission, host)
