"""May a principal do something? The rules of AclAuthorizer (SimpleAclAuthorizer, StandardAuthorizer), as a pure function.

Source: `kafka.security.authorizer.AclAuthorizer.authorizeAction` (2.8, 3.9), `kafka.security.auth.SimpleAclAuthorizer` (1.1),
`org.apache.kafka.metadata.authorizer.StandardAuthorizerData` (3.9, 4.3, 4.4). They agree but for names that begin with `*` and
for networks as hosts (KIP-1276), and differ in the settings that they refuse. SimpleAclAuthorizer of 1.1 reads no PREFIXED ACLs:
ZooKeeper keeps them elsewhere.
`python -m testbed.authorizers` holds this module against the classes themselves.

Where StandardAuthorizer does not decide at all, this module answers by the rules (seen on 4.3.0; the loop on 3.9.1 too): a
user named `*` gets IllegalArgumentException; and where the name of what is asked for, a group say, begins with a character
before `*` (blank to `)`) and shares its beginning with an ACL of such a name, one shared character makes it loop without end,
more of them make it throw StringIndexOutOfBoundsException.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_audit.compare.addresses import is_in_network, is_number, java_address, network_of
from kafka_audit.model.tables import Acl

CLUSTER = ("Cluster", "kafka-cluster")
"""The one resource that ClusterAction is about."""

ANY_PRINCIPAL = "User:*"
OF_ACLS, OF_QUOTAS = "DescribeUserScramCredentials of ACLs", "DescribeUserScramCredentials of quotas"
"""The reads, in KRaft, of the SCRAM credentials of users that ACLs and quotas name."""

SUPER_USERS, NO_ACL = "super.users", "allow.everyone.if.no.acl.found"
NO_ACL_EXISTS = "no ACL exists for the resource"
"""Why a resource without ACLs is not allowed."""
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
KAFKAS_OWN = frozenset({"kafka.security.auth.SimpleAclAuthorizer", "kafka.security.authorizer.AclAuthorizer", STANDARD})
"""Authorizers that decide by ACLs and super.users."""

_JAVA_BLANKS = "".join(map(chr, range(0x21)))  # what String.trim takes away

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
    authorizer: str = "",
    networks: bool = False,
) -> Decision:
    """Decide for one principal (`User:name`), the address it comes from, an operation and a resource (type, name).

    The address is as Java writes it (`compare.hosts.java_address`), "" for one that no ACL names. `networks`: whether the
    authorizer takes `10.0.0.0/8` for a network (`acl_networks` of behaviour.yaml).

    A super user may everything, whatever is denied. Without any ACL that is about the resource (by name, `*` or prefix) the
    setting allow.everyone.if.no.acl.found decides. Otherwise any matching DENY takes precedence, then any ALLOW. DENY takes
    the operation by its name or All; ALLOW of Read, Write, Delete or Alter allows Describe too, of AlterConfigs
    DescribeConfigs. To StandardAuthorizer an ACL for `*` is not about a longer name that begins with `*`, such as the group
    `*a`.
    """
    if principal in super_users:
        return Decision(allowed=True, why=f"{principal} is a super user")
    starred = authorizer == STANDARD and len(resource[1]) > 1 and resource[1].startswith("*")
    about = [acl for acl in acls if _is_about(acl, resource) and not (starred and _is_for_all(acl))]
    if not about:
        why = "allow.everyone.if.no.acl.found is true" if allow_everyone_if_no_acl else NO_ACL_EXISTS
        return Decision(allowed=allow_everyone_if_no_acl, why=why)
    theirs = [acl for acl in about if acl.principal in {principal, ANY_PRINCIPAL} and _is_from(acl, host, networks=networks)]
    denying = _first(theirs, "DENY", (operation,))
    if denying is not None:
        return Decision(allowed=False, why=f"denied by {acl_phrase(denying)}", acl=denying)
    allowing = _first(theirs, "ALLOW", _IMPLIED_BY.get(operation, (operation,)))
    if allowing is not None:
        return Decision(allowed=True, why=f"allowed by {acl_phrase(allowing)}", acl=allowing)
    return Decision(allowed=False, why="no ACL allows it")


def cluster_action(
    principal: str, acls: Sequence[Acl], *, everyone: bool, networks: bool | None, hosts: Iterable[str] | None = None
) -> Iterator[Decision]:
    """Yield what ACLs decide about ClusterAction of a principal that is no super user.

    Args:
        principal: `User:name`.
        acls: those of the cluster.
        everyone: allow.everyone.if.no.acl.found.
        networks: as in `authorized`; None where the release is unknown: then the decisions of both come.
        hosts: the addresses that it may come from, as Java writes them. Without them the first decision is that for an address
            which no ACL names, and others are those for each address that the ACLs may tell from it.
    """
    asked = _told_apart(principal, acls) if hosts is None else tuple(hosts)
    for matched in (False, True) if networks is None else (networks,):
        for host in asked:
            decided = authorized(
                principal, host, "ClusterAction", CLUSTER, acls, allow_everyone_if_no_acl=everyone, networks=matched
            )
            yield decided
            if decided.acl is not None and (decided.acl.permission, decided.acl.host) == ("DENY", "*"):
                break  # so it is from every other address


def super_users(text: str) -> frozenset[str]:
    """Return the principals of a value of super.users; parts without any name are left out, see `refusal`."""
    return frozenset(part for part in _parts(text) if part)


def allows_everyone(text: str) -> bool:
    """Return whether a value of allow.everyone.if.no.acl.found is true."""
    return text.strip(_JAVA_BLANKS).lower() == "true"


def authorizer_refusal(authorizer: str, settings: Mapping[str, str], *, trims: bool = True) -> tuple[str, str] | None:
    """Return the key and the message with which an authorizer refuses its settings, and the broker with it the start.

    Args:
        authorizer: class, one of `KAFKAS_OWN`.
        settings: values as Java reads them from the file, blanks included.
        trims: whether blanks around allow.everyone.if.no.acl.found are ignored, as since 3.6.
    """
    for part in _parts(settings.get(SUPER_USERS, "")):
        if ":" not in part and (part or authorizer != STANDARD):
            return SUPER_USERS, f"expected a string in format principalType:principalName but got {part}"
    setting = settings.get(NO_ACL)
    if setting is None or authorizer == STANDARD:
        return None
    value = setting.strip(_JAVA_BLANKS) if trims else setting
    return None if value.lower() in {"true", "false"} else (NO_ACL, f'For input string: "{value}"')


def _parts(text: str) -> list[str]:
    """Return the entries between semicolons, like String.split (nothing after the last ones), without blanks around."""
    parts = text.split(";") if text else []
    while parts and not parts[-1]:
        parts.pop()
    return [part.strip(_JAVA_BLANKS) for part in parts]


def acl_phrase(acl: Acl) -> str:
    """Return an ACL in one phrase."""
    return f"{acl.permission} {acl.operation} for {acl.principal} from {acl.host} on {acl.resource_type} {acl.resource_name}"


def _is_about(acl: Acl, resource: tuple[str, str]) -> bool:
    kind, name = resource
    if acl.resource_type != kind:
        return False
    return name.startswith(acl.resource_name) if acl.pattern_type == "PREFIXED" else acl.resource_name in {name, "*"}


def _is_from(acl: Acl, host: str, *, networks: bool) -> bool:
    return acl.host in {host, "*"} or (networks and is_in_network(host, acl.host))


def _told_apart(principal: str, acls: Iterable[Acl]) -> tuple[str, ...]:
    """Return "", and each address that ACLs of a principal name; of a network the first address, and the one behind the last.

    All addresses between two of these are the same to the ACLs. A name is never the text of an address.
    """
    found = [""]
    for host in sorted({acl.host for acl in acls if acl.principal in {principal, ANY_PRINCIPAL}}):
        network = network_of(host)
        if network is not None:
            ends = (int(network.network_address), int(network.broadcast_address) + 1)
            kind = type(network.network_address)
            found += [java_address(str(kind(end))) for end in ends if end < 1 << network.max_prefixlen]
        elif is_number(host):
            found.append(host)
    return tuple(dict.fromkeys(found))


def _is_for_all(acl: Acl) -> bool:
    return acl.pattern_type != "PREFIXED" and acl.resource_name == "*"


def _first(acls: Sequence[Acl], permission: str, operations: tuple[str, ...]) -> Acl | None:
    return next((a for a in acls if a.permission == permission and a.operation in {*operations, "All"}), None)
