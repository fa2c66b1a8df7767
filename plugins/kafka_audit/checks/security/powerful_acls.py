from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.security.acls_in_use import acls_in_use
from kafka_audit.configuration.authorization import ANY_PRINCIPAL, acl_phrase
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.model.tables import Acl
from kafka_audit.model.text import listing

_COLUMNS = ("principal", "host", "operation", "permission", "resource_type", "resource_name", "pattern_type")
_STRONG = frozenset({"All", "Alter", "AlterConfigs", "ClusterAction"})


@check(code="KA409", severity=Severity.HIGH)
def powerful_acls(view: ClusterView) -> Judgements:
    """An ACL grants a powerful right to every principal."""
    acls = acls_in_use(view)
    if isinstance(acls, Judgement):
        yield acls
        return
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
