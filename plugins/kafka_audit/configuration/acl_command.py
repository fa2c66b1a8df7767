"""The kafka-acls command that repairs a denial, safe to copy whatever the names hold. Pure."""

from kafka_audit.model.commands import Command, command, continued

TOOL = command("kafka-acls.sh --bootstrap-server BROKER:9092 --command-config admin.properties")

_OPTIONS = {
    "Topic": "--topic",
    "Group": "--group",
    "TransactionalId": "--transactional-id",
    "DelegationToken": "--delegation-token",
    "User": "--user-principal",
}


def acl_command(  # noqa: PLR0913 -- an ACL has that many parts
    principal: str,
    operation: str,
    resource: tuple[str, str],
    *,
    tool: Command = TOOL,
    host: str = "*",
    pattern: str = "LITERAL",
    permission: str = "ALLOW",
    remove: bool = False,
) -> Command:
    """Return the command that adds one ACL, or takes it away.

    Args:
        principal: such as `User:kafka`.
        operation: in the words of kafka-acls, such as ClusterAction.
        resource: type and name; the cluster needs no name.
        tool: kafka-acls.sh, pointed where it works.
        host: address, `*` for any.
        pattern: LITERAL or PREFIXED.
        permission: ALLOW or DENY.
        remove: take away what there is instead of adding it.
    """
    side, (kind, name) = permission.lower(), resource
    template = ["--remove" if remove else "--add", f"--{side}-principal {{principal}}"]
    # A removal names the host always: it is to take away this ACL, and to be compared with what --list shows.
    template += [f"--{side}-host {{host}}"] if remove or host != "*" else []
    template += ["--operation {operation}", "--cluster" if kind == "Cluster" else f"{_OPTIONS[kind]} {{name}}"]
    template += ["--resource-pattern-type prefixed"] if pattern == "PREFIXED" else []
    return continued(tool, " ".join(template), principal=principal, host=host, operation=operation, name=name)
