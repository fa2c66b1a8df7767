from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.client_logins import USER, other_logins, unread_logins, without_login
from kafka_audit.configuration.authorization import ANY_PRINCIPAL, OF_ACLS
from kafka_audit.model.text import listing


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
    if (other := next(other_logins(view), None)) is not None:
        yield view.not_applicable("cluster", other)
        return
    if unread := next(unread_logins(view, OF_ACLS), None):
        yield view.unknown("cluster", *unread)
        return
    acls = {acl for acls in held for acl in acls or ()}
    named = frozenset(acl.principal for acl in acls if acl.principal.startswith(USER)) - {ANY_PRINCIPAL}
    without = without_login(view, named)
    where = sorted({f"{acl.resource_type} {acl.resource_name}" for acl in acls if acl.principal in without})
    evidence: dict[str, object] = {"users": listing(without, 5), "resources": listing(where, 5), "count": len(named)}
    evidence |= {"first": next(iter(without), None)}
    yield view.judge("cluster", Status.FAIL if without else Status.PASS, evidence)
