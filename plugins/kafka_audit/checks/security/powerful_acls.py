from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.configuration.authorization import ANY_PRINCIPAL, acl_phrase
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.model.tables import Acl
from kafka_audit.model.text import listing

_COLUMNS = ("principal", "host", "operation", "permission", "resource_type", "resource_name", "pattern_type")
_STRONG = frozenset({"All", "Alter", "AlterConfigs", "ClusterAction"})


@check(code="KA409", severity=Severity.HIGH)
def powerful_acls(view: ClusterView) -> Judgements:
    """An ACL grants a powerful right to every principal."""
    between = view.inter_broker
    if between.brokers and all(between.authorizer(broker).state == "unset" for broker in between.brokers):
        yield view.not_applicable("cluster", "no broker runs an authorizer")
        return
    if not between.holders:
        yield view.unknown("cluster", "no ACLs were read", "Describe on Cluster, or read on /kafka-acl in ZooKeeper")
        return
    foreign = [broker for broker in between.brokers if between.decides_otherwise(broker)]
    leftover = bool(foreign) and len(foreign) == sum(between.authorizer(broker).state != "unset" for broker in between.brokers)
    held = {holder.acls_digest for name, holder in between.holders.items() if name != "zookeeper" or not leftover}
    if not held:
        yield view.not_applicable("cluster", f"{between.authorizer(foreign[0]).value} does not use the ACLs in ZooKeeper")
        return
    acls = sorted({acl for acl in view.of(Acl) if acl.acls_digest in held}, key=acl_phrase)
    wide = [acl for acl in acls if _too_wide(acl)]
    evidence = {
        "count": len(acls),
        "acls": listing(map(acl_phrase, wide), 3) or "none",
        "grants": tuple(map(_record, wide)) or None,
    }
    if not wide:
        yield view.judge("cluster", Status.PASS, evidence)
        return
    high = any(acl.principal == ANY_PRINCIPAL and acl.resource_type == "Cluster" for acl in wide)
    failed = view.judge("cluster", Status.FAIL, evidence)
    yield replace(failed, severity=Severity.HIGH if high else Severity.MEDIUM)


def _record(acl: Acl) -> dict[str, str]:
    return {column: getattr(acl, column) for column in _COLUMNS}


def _too_wide(acl: Acl) -> bool:
    if acl.permission != "ALLOW" or acl.operation not in _STRONG:
        return False
    return acl.principal == ANY_PRINCIPAL or (acl.principal == ANONYMOUS and acl.resource_type == "Cluster")
