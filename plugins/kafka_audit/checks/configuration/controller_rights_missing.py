from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import NO_QUORUM, no_files
from kafka_audit.checks.incident import Case
from kafka_audit.cluster.settings import AUTHORIZER, ROLES
from kafka_audit.configuration.authorization import SUPER_USERS
from kafka_audit.faults.controller_access import ControllerAccess, access, is_judged
from kafka_audit.model.finding import Finding
from kafka_audit.model.text import listing


@check(code="KA714", severity=Severity.CRITICAL, by_files=True)
def controller_rights_missing(view: ClusterView) -> Judgements:
    """A controller has an authorizer, and its super.users lack the principal of another controller or of a broker."""
    settings = view.settings
    nodes = sorted(settings.every_file)
    if (nodes or view.zookeeper_read) and not any(settings.get(node, ROLES).state != "unset" for node in nodes):
        yield view.not_applicable("cluster", NO_QUORUM, who="A node")
        return
    yield from (_of_controller(view, node) for node in nodes if node in settings.with_controller_role)
    if not nodes:
        yield from no_files(view)


def _of_controller(view: ClusterView, node: int) -> Judgement:
    between, settings = view.next_start, view.settings
    resource, who = settings.resource(node), f"controller {node}"
    evidence: dict[str, object] = {"node": node, "who": who, "key": settings.first_set(node, SUPER_USERS, AUTHORIZER)}
    authorizer = settings.get(node, AUTHORIZER)
    if authorizer.state == "unset":
        return view.not_applicable(resource, "it runs no authorizer", who=who.capitalize())
    if not is_judged(view, node):
        hidden = authorizer.value is None or between.super_users(node) is None
        error = f"{AUTHORIZER} or {SUPER_USERS} is unknown" if hidden else f"{authorizer.value} uses its own rules"
        needs = f"the file as {who} reads it" if hidden else f"the authorizer log of {who}"
        return view.unknown(resource, error, needs, evidence)
    found = [*access(view, node)]
    following = view.quorum.now.replicas.keys() - view.quorum.now.late
    for request in found:
        if request.denied:
            asked = request.sources
            evidence |= {"principal": request.principal.names[0], "listener": request.listener, "nodes": asked}
            unread = "it reads ACLs only after an election" if request.votes else "no ACL that was read allows it"
            evidence["why"] = request.ruling.why or unread
            evidence["whom"] = _named(request)
            severity = Severity.HIGH if following.issuperset(asked) else None
            measured = request.principal.certain and not request.ruling.by_host
            sure = Confidence.MEASURED if measured else Confidence.INFERRED
            return view.judge(resource, Status.FAIL, evidence, severity=severity, confidence=sure)
    undecided = next((request for request in found if request.denied is None), None)
    if undecided is not None:
        principal, ruling = undecided.principal, undecided.ruling
        error, needs = principal.why, principal.needs
        if ruling.by_host:
            release = f" and the release of {who}" if ruling.by_release else ""
            error, needs = ruling.why, f"the address from which {_named(undecided)} reaches {who}{release}"
        elif not needs:
            error = f"ACLs decide whether {principal.names[0]} has ClusterAction"
            needs = f"the ACLs of the cluster, which decide where {SUPER_USERS} does not"
        return view.unknown(resource, error, needs, evidence)
    return view.judge(resource, Status.PASS, evidence)


def _named(request: ControllerAccess) -> str:
    nodes = request.sources
    return f"{'controllers' if request.votes else 'nodes'} {listing(nodes)}" if nodes[1:] else f"node {nodes[0]}"


def lacks_the_denied(case: Case, symptom: Finding) -> bool:
    """Explain that the super users of a controller differ from those of others by the principal that it denies."""
    denied = {(root.resource.name, root.text("principal")) for root in case.roots}
    return any((symptom.resource.name, principal) in denied for principal in symptom.texts("lacks"))
