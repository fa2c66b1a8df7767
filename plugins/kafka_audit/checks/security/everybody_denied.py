from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.incident import Case, StoryFacts, evidence_of
from kafka_audit.checks.security.acls_in_use import acls_in_use
from kafka_audit.configuration.acl_command import acl_command
from kafka_audit.configuration.authorization import ANY_PRINCIPAL
from kafka_audit.model.tables import Acl
from kafka_audit.model.text import listing

_USED = frozenset({"All", "Read", "Write", "Describe"})
_TYPES = {"Topic": "topic", "Group": "group", "TransactionalId": "transactional id"}
_SHOWN = 5


@check(code="KA418", severity=Severity.HIGH)
def everybody_denied(view: ClusterView) -> Judgements:
    """An ACL denies every user what clients do with a topic or a group."""
    acls = acls_in_use(view)
    if isinstance(acls, Judgement):
        yield acls
        return
    denying = [*filter(_denies_everybody, acls)]
    evidence: dict[str, object] = {"count": len(acls), "denied": listing(map(_denied, denying), 3)}
    for acl in denying[:1]:
        evidence |= {"operation": acl.operation, "kind": _TYPES[acl.resource_type].replace(" ", "-")}
        evidence |= {"name": acl.resource_name, "pattern": acl.pattern_type.lower()}
    hides = any(acl.resource_type == "Topic" and acl.operation in {"All", "Describe"} for acl in denying)
    yield view.judge("cluster", Status.FAIL if denying else Status.PASS, evidence, hides=hides or None)


def _denies_everybody(acl: Acl) -> bool:
    of_all = acl.permission == "DENY" and acl.principal == ANY_PRINCIPAL and acl.host == "*"
    return of_all and acl.resource_type in _TYPES and acl.operation in _USED


def _denied(acl: Acl) -> str:
    """Return what an ACL denies, such as `All on topic orders`."""
    name = f"{acl.resource_name}{'*' if acl.pattern_type == 'PREFIXED' else ''}"
    return f"{acl.operation} on {_TYPES[acl.resource_type]} {name}"


def locked_entries(case: Case) -> StoryFacts:
    """Return the facts: the commands that take the entries away."""
    acls = acls_in_use(case.view)
    denying = () if isinstance(acls, Judgement) else [*filter(_denies_everybody, acls)][:_SHOWN]
    commands = (
        acl_command(
            acl.principal,
            acl.operation,
            (acl.resource_type, acl.resource_name),
            pattern=acl.pattern_type,
            permission="DENY",
            remove=True,
        )
        for acl in denying
    )
    return StoryFacts(facts={"removals": tuple(commands)}, evidence=tuple(evidence_of(case.roots)))
