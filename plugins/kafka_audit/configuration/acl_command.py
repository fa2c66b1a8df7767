"""The kafka-acls command that repairs a denial, safe to copy whatever the names hold. Pure."""

import shlex

from kafka_audit.model.text import is_plain_word, our_line, word

TOOL = "kafka-acls.sh --bootstrap-server <broker>:9092 --command-config admin.properties"

_OPTIONS = {
    "Topic": "--topic",
    "Group": "--group",
    "TransactionalId": "--transactional-id",
    "DelegationToken": "--delegation-token",
    "User": "--user-principal",
}
_LARGEST = 2**16


def acl_command(  # noqa: PLR0913 -- an ACL has that many parts
    principal: str,
    operation: str,
    resource: tuple[str, str],
    *,
    tool: str = TOOL,
    host: str = "*",
    pattern: str = "LITERAL",
    permission: str = "ALLOW",
    remove: bool = False,
) -> str:
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
    parts = [tool, "--remove" if remove else "--add", _option(f"--{side}-principal", principal)]
    # A removal names the host always: it is to take away this ACL, and to be compared with what --list shows.
    parts += [_option(f"--{side}-host", host)] if remove or host != "*" else []
    parts.append(_option("--operation", operation))
    parts.append("--cluster" if kind == "Cluster" else _option(_OPTIONS[kind], name))
    parts += ["--resource-pattern-type prefixed"] if pattern == "PREFIXED" else []
    return " ".join(parts)


def _option(name: str, value: str) -> str:
    """Return an option with its value as bash takes it, letter by letter; invisible characters are written as their number."""
    if value.startswith("-"):
        return f"{name}={_exact(value)}"
    return f"{name} {_exact(value)}"


def _exact(value: str) -> str:
    shown = our_line(value, _LARGEST)
    if shown == value:
        return value if is_plain_word(value) else word(value) if word(value)[1:-1] == value else shlex.quote(value)
    escaped = (character if character not in "\\'" else f"\\{character}" for character in value)
    return "$'" + "".join(part if len(part) > 1 else our_line(part) for part in escaped) + "'"
