"""May a principal do something? The rules of AclAuthorizer (SimpleAclAuthorizer, StandardAuthorizer), as a pure function.

Source: `kafka.security.authorizer.AclAuthorizer.authorizeAction` (2.8, 3.9), `kafka.security.auth.SimpleAclAuthorizer` (1.1),
`org.apache.kafka.metadata.authorizer.StandardAuthorizerData` (4.x); the three agree in what is written here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_audit.model.tables import Acl

CLUSTER = ("Cluster", "kafka-cluster")
"""The one resource that ClusterAction is about."""

ANYBODY = "User:*"

_IMPLIED_BY = {
    "Describe": ("Describe", "Read", "Write", "Delete", "Alter"),
    "DescribeConfigs": ("DescribeConfigs", "AlterConfigs"),
}


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What an authorizer answers, and by which rule. `acl` is the one that decided, None where none did."""

    allowed: bool
    why: str
    acl: Acl | None = None


def authorized(  # noqa: PLR0913 -- the question of an authorizer has that many parts
    principal: str,
    host: str,
    operation: str,
    resource: tuple[str, str],
    acls: Sequence[Acl],
    *,
    super_users: frozenset[str] = frozenset(),
    allow_everyone_if_no_acl: bool = False,
) -> Decision:
    """Decide for one principal (`User:name`), the address it comes from, an operation and a resource (type, name).

    A super user may everything, whatever is denied. Without any ACL that is about the resource (by name, `*` or prefix) the
    setting allow.everyone.if.no.acl.found decides. Else any DENY that matches wins, then any ALLOW. DENY takes the operation by
    its name or All; ALLOW of Read, Write, Delete or Alter allows Describe too, of AlterConfigs DescribeConfigs.
    """
    if principal in super_users:
        return Decision(allowed=True, why=f"{principal} is a super user")
    about = [acl for acl in acls if _is_about(acl, resource)]
    if not about:
        words = "allow.everyone.if.no.acl.found is true" if allow_everyone_if_no_acl else "no ACL is about it"
        return Decision(allowed=allow_everyone_if_no_acl, why=words)
    theirs = [acl for acl in about if acl.principal in {principal, ANYBODY} and acl.host in {host, "*"}]
    denying = _first(theirs, "DENY", (operation,))
    if denying is not None:
        return Decision(allowed=False, why=f"denied by {told(denying)}", acl=denying)
    allowing = _first(theirs, "ALLOW", _IMPLIED_BY.get(operation, (operation,)))
    if allowing is not None:
        return Decision(allowed=True, why=f"allowed by {told(allowing)}", acl=allowing)
    return Decision(allowed=False, why="no ACL allows it")


def told(acl: Acl) -> str:
    """Return an ACL in one phrase."""
    return f"{acl.permission} {acl.operation} for {acl.principal} from {acl.host} on {acl.resource_type} {acl.resource_name}"


def _is_about(acl: Acl, resource: tuple[str, str]) -> bool:
    kind, name = resource
    if acl.resource_type != kind:
        return False
    return name.startswith(acl.resource_name) if acl.pattern_type == "PREFIXED" else acl.resource_name in {name, "*"}


def _first(acls: Sequence[Acl], permission: str, operations: tuple[str, ...]) -> Acl | None:
    return next((a for a in acls if a.permission == permission and a.operation in {*operations, "All"}), None)
